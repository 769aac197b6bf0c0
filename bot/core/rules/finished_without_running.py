"""Rule finished-without-running."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.names import named, quoted
from bot.core.rule import rule

_STEPS = {
    "OutOfSync": "Create the job and its prebuilt Workload again so that they match.",
    "FailedToStart": "Correct what the text names, a label that contradicts the pod template. Then create it again.",
    "OwnerNotFound": "Create the job again: the object that owned the Workload is gone.",
    "AdmissionChecksRejected": "Satisfy the admission check that rejected it, then create it again.",
}


@rule("finished", move="asker", outlook="finished", phases=("finished",), needs=("Workload",))
def finished_without_running(facts: Facts) -> Found | None:
    """It finished although it never ran.

    When:
        The Workload is Finished for a reason that is not the job's own: it was out of sync with its job, the job could not be
        started with what was assigned to it, its owner is gone, or (up to Kueue 0.7) an admission check rejected it. Or the job
        failed without ever having been admitted or started.
    Why it blocks:
        A finished Workload is never queued again.
    What to do:
        Do away with the cause that the text names, and create the job again.
    """
    end = facts.progress.never_ran
    if end is None:
        return None
    item, workload = facts.identity.root, end.workload
    name = titled(item) if item is not None else f"Workload {named('Workload', workload.name, workload.namespace)}"
    return Found(
        f"{name} finished without ever running ({quoted(end.reason, 60)}): {quoted(end.message, 300) or 'no message'}",
        (
            Evidence(
                subject_of(workload), "status.conditions[Finished]", quoted(f"{end.reason}: {end.message}"), "kueue"
            ),
        ),
        (Step("asker", _STEPS.get(end.reason, "Do away with the cause that the text names, then create it again.")),),
        tuple(subject_of(thing) for thing in (item, workload) if thing is not None),
    )
