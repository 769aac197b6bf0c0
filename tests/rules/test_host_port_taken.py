"""Rule host-port-taken."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P74").ask("ml-a/mpi")
    assert answer.headline.rule == "host-port-taken"
    assert "host port 2222" in answer.headline.sentence
    assert "2 of 3 pods run." in answer.headline.sentence


def test_near_miss_another_protocol() -> None:
    ports = [{"containerPort": 2222, "hostPort": 2222, "protocol": "UDP"}]
    containers = [{"name": "main", "ports": ports, "resources": {"requests": {"nvidia.com/gpu": "4"}}}]
    answer = recorded("cases/P74").edit("Pod", "mpi-2", {"spec": {"containers": containers}}).ask("ml-a/mpi")
    assert "host-port-taken" not in fired(answer)


def test_near_miss_the_pod_that_has_it_is_over() -> None:
    answer = recorded("cases/P74").edit("Pod", "mpi-0", {"status": {"phase": "Failed"}}).ask("ml-a/mpi")
    assert "host-port-taken" not in fired(answer)
