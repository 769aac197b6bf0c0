"""Rule old-pods-still-terminating."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.identity import job_finished, subject_of, titled
from bot.core.names import named
from bot.core.rule import rule


@rule("workload", move="asker", outlook="in-progress", phases=("no-workload",), needs=("Pod",))
def old_pods_still_terminating(facts: Facts) -> Found | None:
    """Earlier pods of it have not gone yet.

    When:
        The job is suspended and has no Workload, and pods of it that started earlier are still there: running, or being deleted.
    Why it blocks:
        Kueue makes the Workload of a suspended job only when no pod of it is active any more.
    What to do:
        Wait for the pods to end. If they hang, look at their finalizers and at the node they are on.
    """
    item = facts.identity.root
    if not isinstance(item, o.Job) or not facts.membership.suspended:
        return None
    pods = [pod for pod in facts.identity.descendants(item) if isinstance(pod, o.Pod) and job_finished(pod) is None]
    pods = sorted((pod for pod in pods if not pod.spec.scheduling_gates), key=lambda pod: pod.name)
    if not pods:
        return None
    first = pods[0]
    going = [pod for pod in pods if pod.metadata.deletion_timestamp is not None]
    count = f"{len(pods)} pods" if len(pods) > 1 else "1 pod"
    state = "are still terminating" if len(pods) > 1 else "is still terminating"
    if not going:
        state = "have not ended" if len(pods) > 1 else "has not ended"
    holding = ", ".join(dict.fromkeys(name for pod in going for name in pod.metadata.finalizers))
    return Found(
        f"{titled(item)} is suspended, but {count} of its earlier run {state}: {named('Pod', first.name, first.namespace)}"
        f"{' and others' if len(pods) > 1 else ''}{'; finalizers ' + holding if holding else ''}.",
        tuple(
            Evidence(
                subject_of(pod),
                "metadata.deletionTimestamp" if pod.metadata.deletion_timestamp else "status.phase",
                pod.metadata.deletion_timestamp.isoformat()
                if pod.metadata.deletion_timestamp
                else pod.status.phase or "Unknown",
            )
            for pod in pods[:5]
        ),
        (Step("asker", "Wait for the pods to end, or see what keeps them.", f"kubectl -n {first.namespace} get pods"),),
        (subject_of(item), *(subject_of(pod) for pod in pods[:5])),
    )
