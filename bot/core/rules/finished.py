"""Rule finished."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.names import named, quoted
from bot.core.objects import condition
from bot.core.rule import rule


@rule("finished", move="nobody", outlook="finished", phases=("finished",), needs=("Workload",))
def finished(facts: Facts) -> Found | None:
    """It has finished.

    When:
        The job says that it succeeded or failed (a condition, or the phase of the pod), or its Workload is Finished.
    Why it blocks:
        It does not: nothing is pending any more. A failed job says why in its own message, which is quoted.
    What to do:
        Nothing. To run it once more, create it again.
    """
    identity = facts.identity
    if facts.progress.never_ran is not None:
        return None
    item, group, workload = identity.root, identity.group, identity.workloads[-1] if identity.workloads else None
    name = titled(item) if item is not None else f"Pod group {named('PodGroup', facts.ref.name, facts.ref.namespace)}"
    evidence, text, good = [], "", True
    if facts.progress.finished is not None:
        good, text = facts.progress.finished
        about = item or (group.pods[0] if group is not None else None)
        if about is not None:
            evidence.append(Evidence(subject_of(about), "status", "succeeded" if good else "failed"))
    closed = condition(workload.status.conditions, "Finished") if workload is not None else None
    if workload is not None and closed is not None and closed.status == "True":
        good = good and not (facts.progress.finished is None and closed.reason == "Failed")
        text = text or closed.message
        evidence.append(
            Evidence(
                subject_of(workload),
                "status.conditions[Finished].message",
                quoted(closed.message or closed.reason),
                "kueue",
            )
        )
    if not evidence:
        return None
    how = "succeeded" if good else "failed"
    says = f": {quoted(text, 300)}" if text else "."
    step = (
        Step("nobody", "Nothing is pending.") if good else Step("asker", "Look at what it says, then create it again.")
    )
    return Found(
        f"{name} has finished, it {how}{says}",
        tuple(evidence),
        (step,),
        tuple(subject_of(thing) for thing in (item, workload) if thing is not None),
        certainty="certain",
    )
