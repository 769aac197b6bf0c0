"""Rule old-pods-still-terminating."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.preemption import pod_state
from bot.core.jobs import job_finished, subject_of, titled
from bot.core.moments import lasting, stamp
from bot.core.names import named, quoted
from bot.core.rule import rule
from bot.core.snapshot import owned

_BY_RULES_OF_THEIR_OWN = ("ClusterQueueStopped", "LocalQueueStopped", "Deactivated", "InactiveWorkload")


@rule("workload", move="asker", outlook="in-progress", phases=("no-workload", "reserved", "admitted"), needs=("Pod",))
def old_pods_still_terminating(facts: Facts) -> Found | None:
    """Earlier pods of it have not gone yet.

    When:
        The job is suspended and has no Workload, and pods of it that started earlier are still there: running, or being
        deleted. Or its Workload was evicted and holds its quota, because its pods have not gone; not for a queue that is
        stopped or a Workload that is deactivated, which have rules of their own.
    Why it blocks:
        Kueue makes the Workload of a suspended job, and queues an evicted one again, only when no pod of it is active any more.
    What to do:
        Wait for the pods to end. If they hang, look at their finalizers and at the node they are on. `kubectl get pods -n
        NAMESPACE -o wide` shows which are Terminating and where.
    """
    if facts.progress.phase != "no-workload":
        return _evicted(facts)
    item = facts.identity.root
    if not isinstance(item, o.Job) or not facts.membership.suspended:
        return None
    pods = [pod for pod in facts.kin.descendants(item) if isinstance(pod, o.Pod) and job_finished(pod) is None]
    pods = sorted((pod for pod in pods if not pod.spec.scheduling_gates), key=lambda pod: pod.name)
    if not pods:
        facts.snapshot.require("Pod", item.namespace, selector=owned(item.metadata.uid))
        return None
    first = pods[0]
    going = [pod for pod in pods if pod.metadata.deletion_timestamp is not None]
    count = f"{len(pods)} pods" if len(pods) > 1 else "1 pod"
    state = "are still terminating" if len(pods) > 1 else "is still terminating"
    if len(going) < len(pods):
        state = "have not ended" if len(pods) > 1 else "has not ended"
    holding = ", ".join(dict.fromkeys(quoted(name, 80) for pod in going for name in pod.metadata.finalizers))
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


def _evicted(facts: Facts) -> Found | None:
    workload, evicted = facts.identity.want(), facts.history.evicted
    if evicted is None or not evicted.current or workload.spec.active is False:
        return None
    if evicted.reason.startswith(_BY_RULES_OF_THEIR_OWN):
        return None
    if any(owner.kind == "Pod" for owner in workload.metadata.owner_references):
        return None  # these pods do not come back: see replacement-pods-needed
    hanging = facts.order.preemption.hanging(workload)
    if not hanging:
        facts.snapshot.require("Pod", workload.namespace)
        return None
    pod, count = hanging[0].pod, len(hanging)
    age = facts.age(evicted.at)
    ago = f" {lasting(age)} ago" if age is not None else ""
    name = named("Pod", pod.name, pod.namespace)
    steps = [Step("nobody", "Wait: it is queued again as soon as its pods have gone.")]
    if hanging[0].node_trouble or (hanging[0].overdue or 0) > 0 or (age or 0) > facts.thresholds.long:
        do = f"Look at pod {name}: its finalizers, its node and the controller of its job."
        steps = [Step("platform", do, f"kubectl -n {pod.namespace} get pod {pod.name} -o yaml")]
    about = subject_of(workload)
    return Found(
        f"It was evicted{ago} ({quoted(evicted.reason, 60)}), and {count} of its pods {'has' if count == 1 else 'have'} not gone"
        f" yet, so it keeps its quota and is not queued again: pod {name} {pod_state(hanging[0])}.",
        (
            Evidence(about, "status.conditions[Evicted]", quoted(f"{evicted.reason}: {evicted.text}"), "kueue"),
            *(
                Evidence(
                    subject_of(entry.pod),
                    "metadata.deletionTimestamp" if entry.pod.metadata.deletion_timestamp else "status.phase",
                    stamp(entry.pod.metadata.deletion_timestamp)
                    if entry.pod.metadata.deletion_timestamp
                    else entry.pod.status.phase or "Unknown",
                )
                for entry in hanging[:5]
            ),
        ),
        tuple(steps),
        (about, *(subject_of(entry.pod) for entry in hanging[:5])),
        move="nobody" if steps[0].move == "nobody" else "platform",
    )
