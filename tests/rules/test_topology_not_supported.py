"""Request and topology that do not go together, whatever room the flavor has."""

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/topology-no-fit"


def _asks(cluster: Cluster, request: object) -> Cluster:
    name = cluster.named("Workload", "job-train")
    sets = cluster.get("Workload", name)["spec"]["podSets"]
    sets[0]["topologyRequest"] = request
    return cluster.edit("Workload", name, {"spec": {"podSets": sets}})


def test_fires() -> None:
    answer = _asks(recorded(SCENARIO), {"required": "cloud/block"}).ask("team-a/train")
    assert answer.headline.rule == "topology-not-supported"
    assert answer.outlook == "never-as-written"
    assert "cloud/block" in answer.headline.sentence
    assert any("cloud/rack" in step.do for step in answer.headline.next)


def test_fires_for_a_flavor_without_topology() -> None:
    cluster = recorded(SCENARIO).edit("ResourceFlavor", "tas", {"spec": {"topologyName": None}})
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "topology-not-supported"
    assert "no topology" in answer.headline.sentence


def _two_flavors(plain: str) -> Cluster:
    """A second flavor without a topology, and a Workload that asks for none."""
    cluster = recorded(SCENARIO)
    flavors = [
        {"name": "plain", "resources": [{"name": "cpu", "nominalQuota": plain}]},
        {"name": "tas", "resources": [{"name": "cpu", "nominalQuota": "100"}]},
    ]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    flavor = cluster.get("ResourceFlavor", "tas")
    flavor["metadata"] = {"name": "plain", "uid": "f-plain"}
    flavor["spec"] = {}
    cluster = cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"resourceGroups": groups}}).add(flavor)
    return _asks(cluster, {"podIndexLabel": "batch.kubernetes.io/job-completion-index"})


def test_fires_for_a_flavor_that_is_for_topologies_alone() -> None:
    answer = _two_flavors("4").ask("team-a/train")
    assert answer.headline.rule == "topology-not-supported"
    assert "topology-aware scheduling only" in answer.headline.sentence


def test_near_miss() -> None:
    assert "topology-not-supported" not in fired(recorded(SCENARIO).ask("team-a/train"))


def test_near_miss_another_flavor_has_room() -> None:
    assert "topology-not-supported" not in fired(_two_flavors("50").ask("team-a/train"))


def test_near_miss_topology_is_implied_where_there_is_nothing_else() -> None:
    answer = _asks(recorded(SCENARIO), None).ask("team-a/train")
    assert "topology-not-supported" not in fired(answer)
