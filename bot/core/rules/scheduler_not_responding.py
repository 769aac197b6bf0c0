"""Rule scheduler-not-responding."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.nodes import FILTERS
from bot.core.facts.pods import DEFAULT_SCHEDULER
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def scheduler_not_responding(facts: Facts) -> Found | None:
    """The scheduler that the pod names has not looked at it, or not again.

    When:
        A pod is on no node and has no gate, and no scheduler has written anything about it: no PodScheduled condition,
        no event. In the first moments of a pod this is said as passing, and only if nothing else keeps it out. Also when
        what it said last is no longer so: a node would take the pod now, by all that can be recomputed, and it has not
        tried again.
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
    ]
    if not silent:
        return _outdated(facts)
    pod = silent[0]
    facts.pods.sure_event(pod, "FailedScheduling")
    young = (facts.age(pod.metadata.creation_timestamp) or 0) < facts.thresholds.young
    if young and any(funnel.blame is not None for funnel in facts.nodes.funnels):
        return None
    scheduler = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    usual = scheduler == DEFAULT_SCHEDULER
    passing = " It was made a moment ago, so this may pass by itself." if young else ""
    subject = names.subject("Pod", pod.name, pod.namespace)
    return Found(
        facts.pods.close(
            f"{facts.pods.naming(silent)} {'has' if len(silent) == 1 else 'have'} not been looked at by scheduler "
            f"{names.quoted(scheduler)}: it has written no condition and no event.{passing}"
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
        "nobody" if young else "platform" if usual else "asker",
        "in-progress" if young else "fix",
    )


def _outdated(facts: Facts) -> Found | None:
    """A pod that some node would take now, although the scheduler's last words speak of reasons that all were recomputed."""
    try:
        funnels = facts.nodes.funnels
    except Unknown:
        return None
    for funnel in funnels:
        verdict = funnel.verdict
        free = [view.node for view in funnel.nodes if not view.fails]
        if funnel.blame is not None or not free or not funnel.complete or verdict is None:
            continue
        if any(part.category not in FILTERS for part in verdict.parts):
            continue
        pod = funnel.pod
        at = facts.nodes.last_word(pod)
        age = facts.age(at)
        long = age is not None and age > facts.thresholds.long
        since = f", and it has not tried again for {int(age // 60)} minutes" if age is not None and long else ""
        passing = "" if long else " It tries again soon, so this may pass by itself."
        node = names.named("Node", free[0].name)
        return Found(
            facts.pods.close(
                f"{facts.pods.naming(funnel.pods)} would now fit on node {node}; the scheduler's last word is older: "
                f"{names.quoted(verdict.text)}{since}.{passing}"
            ),
            (
                *facts.nodes.evidence(funnel),
                Evidence(names.subject("Node", free[0].name), "status.allocatable", "room", "computed"),
            ),
            (Step("platform", "See whether the scheduler runs and tries again.", facts.pods.describe(pod)),),
            facts.pods.subjects(funnel.pods),
            "likely",
            "platform" if long else "nobody",
            "fix" if long else "in-progress",
        )
    return None
