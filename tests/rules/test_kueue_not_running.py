"""Rule kueue-not-running."""

from tests.clusters import fired, recorded
from tests.made import LONG_AGO, NOW, admitted, cluster, event, job, made, pod, workload

IMAGE = {
    "template": {"spec": {"containers": [{"name": "manager", "image": "registry.example.com/kueue/kueue:v0.17.3"}]}}
}
DOWN = {"replicas": 1, "unavailableReplicas": 1}
CALL = 'failed calling webhook "mjob.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443"'


def kueue(status: dict[str, int], name: str = "kueue-controller-manager") -> dict[str, object]:
    """Kueue's Deployment in this state."""
    return made("Deployment", name, namespace="queueing", spec={"replicas": 1, **IMAGE}, status=status)


def lease(renewed: str, holder: str = "kueue-controller-manager-0_1") -> dict[str, object]:
    """Kueue's leader lease."""
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}
    return made("Lease", "c1f6bfd2.kueue.x-k8s.io", namespace="kueue-system", spec=spec)


def test_fires() -> None:
    answer = recorded("cases/P75").ask("ml-a/fresh")
    assert answer.headline.rule == "kueue-not-running"
    assert "has 0 of 1 replicas ready" in answer.headline.sentence
    assert answer.headline.certainty == "certain"


def test_fires_in_any_namespace_and_while_it_waits() -> None:
    """Found by its image, also for a job that has its Workload; scaled to zero counts."""
    item = job()
    for state, spec in ((DOWN, {}), ({}, {"replicas": 0})):
        down = kueue(state, "queue-manager")
        down["spec"] = {**down["spec"], **spec}  # type: ignore[dict-item]
        for objects in ((item, workload(item)), (item,)):
            assert cluster(*objects, down).ask("team-a/train").headline.rule == "kueue-not-running"


def test_fires_on_a_stale_lease() -> None:
    """Expired, or the holder's Pod is gone."""
    answer = recorded("cases/P76").ask("ml-a/orph")
    assert answer.headline.rule == "kueue-not-running"
    assert "kueue-controller-manager-old" in answer.headline.sentence
    assert "whose Pod is gone" in answer.headline.sentence
    assert cluster(job(), lease(LONG_AGO)).ask("team-a/train").headline.rule == "kueue-not-running"


def test_fires_on_endpoints_and_events() -> None:
    """The webhook has no address, and the event says that it did not answer: for a job that was never created, too."""
    answer = recorded("cases/P29").ask("ml-a/nightly")
    assert answer.headline.rule == "kueue-not-running"
    assert "mjob.kb.io did not answer 9 times" in answer.headline.sentence
    system = recorded("cases/P66").ask("kube-system/coredns")
    assert system.headline.rule == "kueue-not-running"
    assert any("failurePolicy" in entry.field and entry.value == "Fail" for entry in system.headline.evidence)
    slice_ = made("EndpointSlice", "kueue-webhook-service-x", namespace="kueue-system", endpoints=[],
                  labels={"kubernetes.io/service-name": "kueue-webhook-service"})  # fmt: skip
    assert cluster(job(), slice_).ask("team-a/train").headline.rule == "kueue-not-running"


def test_beside_a_job_that_was_not_found() -> None:
    answer = cluster(event(job(), "FailedCreate", CALL, type="Warning")).ask("team-a/train")
    assert answer.headline.rule == "job-not-found"
    assert "kueue-not-running" in fired(answer)


def test_fires_when_admitted_and_not_resumed() -> None:
    item = job()
    answer = cluster(item, workload(item, conditions=admitted()), kueue(DOWN)).ask("team-a/train")
    assert answer.headline.rule == "kueue-not-running"


def test_near_miss() -> None:
    """Nothing of Kueue was seen; it is ready; its status was not read; another Deployment is down."""
    assert "kueue-not-running" not in fired(recorded("v0.19.2/kueue-down").ask("team-a/train"))
    for state in ({"readyReplicas": 1}, {}):
        assert "kueue-not-running" not in fired(cluster(job(), kueue(state)).ask("team-a/train"))
    page = {"template": {"spec": {"containers": [{"image": "registry.example.com/kueue/kueueviz-backend:v0.17.3"}]}}}
    viz = made("Deployment", "kueue-kueueviz-backend", namespace="kueue-system", status=DOWN, spec=page)
    assert "kueue-not-running" not in fired(cluster(job(), viz).ask("team-a/train"))


def test_near_miss_leases() -> None:
    """Renewed in time, also by a process outside the cluster; stale, but Kueue has worked since."""
    assert "kueue-not-running" not in fired(cluster(job(), lease(NOW, "outside_1")).ask("team-a/train"))
    item = job()
    worked = event(item, "CreatedWorkload", "Created Workload", at=NOW, reportingComponent="batch/job-kueue-controller")
    assert "kueue-not-running" not in fired(cluster(item, lease(LONG_AGO), worked).ask("team-a/train"))


def test_near_miss_jobs_that_do_not_need_it() -> None:
    """A job that runs, and one that Kueue does not manage, are not held by a Kueue that is down."""
    item = job(suspended=False)
    runs = cluster(item, workload(item, conditions=admitted()), pod("p", phase="Running", owner=item), kueue(DOWN))
    assert "kueue-not-running" not in fired(runs.ask("team-a/train"))
    free = job(labels={}, suspended=False)
    assert "kueue-not-running" not in fired(cluster(free, pod("p", owner=free), kueue(DOWN)).ask("team-a/train"))


def test_near_miss_webhook_that_answers_again() -> None:
    """After the failed call something was created; or the event is old and Kueue is ready."""
    cron = job("CronJob", "nightly", suspended=False, labels={})
    old = event(cron, "FailedCreate", CALL, at=LONG_AGO, type="Warning")
    assert "kueue-not-running" in fired(cluster(cron, old).ask("team-a/nightly"))
    assert "kueue-not-running" not in fired(cluster(cron, old, kueue({"readyReplicas": 1})).ask("team-a/nightly"))
    made_since = job("Job", "nightly-1", owner=cron, labels={})
    assert "kueue-not-running" not in fired(cluster(cron, old, made_since).ask("team-a/nightly"))
