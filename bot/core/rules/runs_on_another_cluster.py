"""Rule runs-on-another-cluster."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.identity import subject_of, titled
from bot.core.names import named, quoted
from bot.core.rule import rule


@rule("pods", move="nobody", outlook="in-progress", phases=("admitted",), needs=("Workload",))
def runs_on_another_cluster(facts: Facts) -> Found | None:
    """It runs on another cluster.

    When:
        The Workload is admitted by way of MultiKueue: `status.clusterName`, or the message of its Ready admission check,
        names the worker cluster that has taken it.
    Why it blocks:
        It does not: the job here is only the manager's copy, which stays suspended while the work is done on the worker cluster.
    What to do:
        Look at the job of the same namespace and name on the worker cluster.
    """
    remote = facts.identity.remote
    if remote is None:
        return None
    item = facts.identity.root
    name = (
        titled(item)
        if item is not None
        else f"Workload {named('Workload', remote.workload.name, remote.workload.namespace)}"
    )
    says = f" The check {quoted(remote.check, 60)} says: {quoted(remote.message, 200)}." if remote.message else ""
    return Found(
        f"{name} runs on the worker cluster {named('MultiKueueCluster', remote.cluster)}; the copy here stays suspended.{says}",
        (Evidence(subject_of(remote.workload), remote.field, quoted(remote.message or remote.cluster), "kueue"),),
        (Step("nobody", f"Look at it on the cluster {quoted(remote.cluster)}, under the same namespace and name."),),
        (subject_of(remote.workload),),
    )
