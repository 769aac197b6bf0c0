"""Rule runs-on-another-cluster."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, suspended, titled
from bot.core.moments import lasting
from bot.core.names import cited, named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.untyped import number


@rule("pods", move="nobody", outlook="in-progress", phases=("admitted",), needs=("Workload",))
def runs_on_another_cluster(facts: Facts) -> Found | None:
    """It runs on another cluster.

    When:
        The Workload is admitted by way of MultiKueue: `status.clusterName`, or the message of its Ready admission check,
        names the worker cluster that has taken it.
    Why it blocks:
        It does not: the job here is only the manager's copy, which makes no pods. Its status is what the worker cluster last
        told. While the MultiKueueCluster is not active, nobody here knows how the job is doing.
    What to do:
        Look at the job of the same namespace and name on the worker cluster. Where the connection is broken, mend it: after
        `multiKueue.workerLostTimeout` (15 minutes by default) Kueue gives the job to another cluster.
    """
    remote = facts.progress.remote
    if remote is None:
        return None
    item = facts.identity.root
    name = (
        titled(item)
        if item is not None
        else f"Workload {named('Workload', remote.workload.name, remote.workload.namespace)}"
    )
    cluster = named("MultiKueueCluster", remote.cluster)
    says = f" The check {quoted(remote.check, 60)} says: {quoted(remote.message, 200)}." if remote.message else ""
    evidence = [Evidence(subject_of(remote.workload), remote.field, quoted(remote.message or remote.cluster), "kueue")]
    look = Step("nobody", f"Look at it on the cluster {quoted(remote.cluster)}, under the same namespace and name.")
    worker = facts.snapshot.look("MultiKueueCluster", remote.cluster)
    active = condition(worker.status.conditions, "Active") if isinstance(worker, o.ConditionedLoose) else None
    if active is not None and active.status == "False":
        age = facts.age(active.last_transition_time)
        since = f", for {lasting(age)} now" if age is not None else ""
        evidence.append(
            Evidence(
                subject("MultiKueueCluster", remote.cluster),
                "status.conditions[Active]",
                quoted(f"{active.status}, {active.reason}: {active.message}"),
            )
        )
        return Found(
            f"{name} was given to the worker cluster {cluster}, which Kueue cannot reach{since}, so how it does there is not"
            f" known: {cited(active.message or active.reason, 200)}.",
            tuple(evidence),
            (Step("platform", f"Mend the connection to {cluster}."), look),
            (subject_of(remote.workload), subject("MultiKueueCluster", remote.cluster)),
            move="platform",
        )
    return Found(
        f"{name} runs on the worker cluster {cluster}{_copy(item, evidence)}.{says}",
        tuple(evidence),
        (look,),
        (subject_of(remote.workload),),
    )


def _copy(item: o.KubeObject | None, evidence: list[Evidence]) -> str:
    """What the copy on this cluster is, or what it tells of the pods over there; adds the evidence for that."""
    if item is None:
        return ""
    if suspended(item) is True:
        return "; the copy here stays suspended"
    if isinstance(item, o.Job) and item.kind == "Job" and number(item.status.get("active"), 0) > 0:
        active, ready = (number(item.status.get(key), 0) for key in ("active", "ready"))
        evidence.append(Evidence(subject_of(item), "status.active, status.ready", f"{active}, {ready}"))
        return f": {active} pod{'s are' if active != 1 else ' is'} active there, {ready} of them ready"
    return "; the copy here makes no pods"
