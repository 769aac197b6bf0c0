"""Rule pod-group-incomplete."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import job_finished, subject_of
from bot.core.marks import GROUP_TOTAL
from bot.core.names import named, quoted
from bot.core.rule import rule

_FAST = "kueue.x-k8s.io/pod-group-fast-admission"
"""With this annotation Kueue makes the Workload of the first pods and does not wait for the others."""


@rule("workload", move="asker", outlook="fix", phases=("no-workload",), needs=("Pod",))
def pod_group_incomplete(facts: Facts) -> Found | None:
    """The pod group has fewer pods than it announces.

    When:
        Fewer runnable pods of the group exist than its annotation `kueue.x-k8s.io/pod-group-total-count` says, and there is no
        Workload yet.
    Why it blocks:
        Kueue makes the Workload of a pod group when all its pods are there, because it admits the group as a whole.
    What to do:
        Create the missing pods, or correct the count. With the annotation `kueue.x-k8s.io/pod-group-fast-admission` Kueue does
        not wait for all of them.
    """
    group, totals = facts.identity.group, facts.membership.group_totals
    if group is None or len(totals) != 1 or any(_FAST in pod.metadata.annotations for pod in group.pods):
        return None
    facts.snapshot.require("Pod", group.namespace)
    total = next(iter(totals))
    runnable = [pod for pod in group.pods if job_finished(pod) is None and pod.metadata.deletion_timestamp is None]
    if len(runnable) >= total:
        return None
    first = group.pods[0]
    return Found(
        f"Pod group {named('PodGroup', group.name, group.namespace)} has {len(runnable)} of {total} pods: Kueue waits for "
        f"{total - len(runnable)} more before it makes the Workload.",
        (
            Evidence(subject_of(first), f"metadata.annotations[{GROUP_TOTAL}]", str(total)),
            Evidence(subject_of(first), "runnable pods of the group", str(len(runnable)), "computed"),
            *(
                Evidence(subject_of(pod), f"event {event.reason}", quoted(event.message), "kueue")
                for pod in group.pods
                for event in facts.kin.events(pod)[-1:]
                if event.reason == "ErrWorkloadCompose"
            ),
        ),
        (Step("asker", f"Create the missing {total - len(runnable)}, or set {GROUP_TOTAL} to what there is."),),
        tuple(subject_of(pod) for pod in group.pods[:5]),
    )
