"""Rule scheduler-not-responding."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.pods import DEFAULT_SCHEDULER
from bot.core.objects import condition
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def scheduler_not_responding(facts: Facts) -> Found | None:
    """The scheduler that the pod names has not looked at it.

    When:
        A pod is on no node and has no gate, and no scheduler has written anything about it: no PodScheduled condition,
        no event. Not for the first moments of a pod.
    Why it blocks:
        Only the scheduler named in `spec.schedulerName` places the pod. If none of that name runs, nobody does.
    What to do:
        Correct `schedulerName` in the pod template, or install that scheduler. If it is the default scheduler, the
        platform's people look at why it stands still.
    """
    silent = [
        pod
        for pod in facts.pods.unscheduled
        if condition(pod.status.conditions, "PodScheduled") is None
        and not pod.status.nominated_node_name
        and not any(event.reason in {"FailedScheduling", "Scheduled"} for event in facts.pods.events_about(pod))
        and pod.metadata.creation_timestamp is not None
        and (facts.age(pod.metadata.creation_timestamp) or 0) >= facts.thresholds.young
    ]
    if not silent:
        return None
    pod = silent[0]
    facts.pods.sure_event(pod, "FailedScheduling")
    scheduler = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    usual = scheduler == DEFAULT_SCHEDULER
    subject = names.subject("Pod", pod.name, pod.namespace)
    return Found(
        facts.pods.close(
            f"{facts.pods.naming(silent)} {'has' if len(silent) == 1 else 'have'} not been looked at by scheduler "
            f"{names.quoted(scheduler)}: it has written no condition and no event."
        ),
        (
            Evidence(subject, "spec.schedulerName", names.quoted(scheduler)),
            Evidence(subject, "status.conditions[PodScheduled]", "absent"),
        ),
        (
            Step("platform", "See why the default scheduler stands still.", facts.pods.describe(pod))
            if usual
            else Step("asker", "Correct schedulerName, or have that scheduler installed.", facts.pods.describe(pod)),
        ),
        facts.pods.subjects(silent),
        "likely",
        "platform" if usual else "asker",
    )
