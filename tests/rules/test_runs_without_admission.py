"""Rule runs-without-admission."""

from tests.causes.world import World, admission, admitted, asked, pod, waits, workload
from tests.clusters import fired

SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"


def test_fires_beside_the_headline() -> None:
    job, loads = asked(waits(SHORT))
    job["spec"]["suspend"] = False
    answer = World(full=True).ask(job, loads, pod(job, 0), pod(job, 1))
    assert answer.headline.rule == "quota-in-use"
    found = next(entry for entry in answer.context if entry.rule == "runs-without-admission")
    assert found.sentence.startswith("2 pods of it run although its Workload is not admitted")
    assert "is not suspended" in found.sentence


def test_near_miss_an_elastic_job_runs_at_its_old_size() -> None:
    job, loads = asked(waits(SHORT))
    job["spec"]["suspend"] = False
    old = workload(job, *admitted(), name="job-finetune-before", status=admission())
    assert "runs-without-admission" not in fired(World(full=True).ask(job, loads, old, pod(job, 0), pod(job, 1)))


def test_near_miss_its_pods_are_gated() -> None:
    job, loads = asked(waits(SHORT))
    waiting = pod(job, 0, phase="Pending", node="", spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]})
    assert "runs-without-admission" not in fired(World(full=True).ask(job, loads, waiting))
