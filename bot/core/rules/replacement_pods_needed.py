"""Rule replacement-pods-needed."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import is_over
from bot.core.marks import GROUP_LABEL
from bot.core.names import named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule


@rule("queue", move="asker", outlook="in-progress", phases=("waiting", "reserved", "admitted"), needs=("Workload",))
def replacement_pods_needed(facts: Facts) -> Found | None:
    """Pods of the group are gone and nobody has made new ones.

    When:
        The Workload's condition WaitingForReplacementPods is True, and the group was admitted once or Kueue has not
        looked at it; or the Workload belongs to one single pod, was evicted, and Kueue does not queue it again
        because it dies with its pod.
    Why it blocks:
        Pods cannot be started again. Kueue admits the group again only when whoever owns the pods has created as many
        new ones as were lost.
    What to do:
        Create the missing pods with the same pod group name, or let their controller do it. If the group is of no use
        any more, delete it, or set the annotation `kueue.x-k8s.io/retriable-in-group: "false"` on its pods so that it
        can finish.
    """
    workload = facts.identity.want()
    about = subject("Workload", workload.name, workload.namespace)
    waits = condition(workload.status.conditions, "WaitingForReplacementPods")
    if waits is not None and waits.status == "True" and (_had_quota(workload) or not facts.history.is_verdict):
        wanted = sum(pod_set.count for pod_set in workload.spec.pod_sets)
        pods = [
            pod
            for pod in facts.snapshot.all_of(o.Pod, read="seen", namespace=workload.namespace)
            if pod.metadata.labels.get(GROUP_LABEL) == workload.name
        ]
        failed = sum(pod.status.phase == "Failed" for pod in pods)
        alive = sum(not is_over(pod) and not pod.metadata.deletion_timestamp for pod in pods)
        left = {0: "none is left", 1: "1 is left"}.get(alive, f"{alive} are left")
        counted = f" {failed} of them failed and {left}." if pods else ""
        evicted = facts.history.evicted
        again = ""
        if evicted is not None and evicted.count > 1:
            again = f" Kueue has evicted the group {evicted.count} times so far."
        return Found(
            f"Pod group {named('Workload', workload.name, workload.namespace)} wants {wanted} pods and waits for new ones in "
            f"place of those it lost.{counted}{again}",
            (
                Evidence(
                    about,
                    "status.conditions[WaitingForReplacementPods]",
                    quoted(f"True, {waits.reason}: {waits.message}"),
                    "kueue",
                ),
                Evidence(about, "spec.podSets[].count", str(wanted)),
            ),
            (Step("asker", f"Create the missing pods with pod group name {workload.name}, or delete the group."),),
            (about,),
        )
    return _single_pod(facts, workload, about)


def _had_quota(workload: o.Workload) -> bool:
    """Whether it was admitted once: an older Kueue sets the condition on new groups as well, and looks at them all the same."""
    conditions = workload.status.conditions
    return any(condition(conditions, kind) is not None for kind in ("Admitted", "Evicted"))


def _single_pod(facts: Facts, workload: o.Workload, about: str) -> Found | None:
    owners = workload.metadata.owner_references
    if (
        len(owners) != 1
        or owners[0].kind != "Pod"
        or "kueue.x-k8s.io/is-group-workload" in workload.metadata.annotations
    ):
        return None
    evicted, requeued = facts.history.evicted, condition(workload.status.conditions, "Requeued")
    if facts.progress.phase != "waiting" or evicted is None or not evicted.current or requeued is None:
        return None
    if requeued.status != "False" or requeued.reason not in {"Preempted", "NodeFailures"}:
        return None
    return Found(
        f"Pod {named('Pod', owners[0].name, workload.namespace)} was evicted ({quoted(evicted.reason)}), and a single pod "
        "does not start again: its Workload ends with it.",
        (Evidence(about, "status.conditions[Requeued]", quoted(f"False, {requeued.reason}"), "kueue"),),
        (Step("asker", "Create the pod again, or let its controller do it."),),
        (about,),
    )
