"""Rule reactivation-ignored."""

from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=("Workload",))
def reactivation_ignored(facts: Facts) -> Found | None:
    """The Workload is active again, but Kueue still keeps it out.

    When:
        `spec.active` is not false any more, yet the condition Requeued is still False with the reason of an old
        deactivation by Kueue itself (`DeactivatedDueTo…`).
    Why it blocks:
        Kueue clears only a deactivation by a person (`Deactivated`) when a Workload is activated again. One that Kueue
        caused itself stays, and Requeued=False keeps the Workload out of its queue.
    What to do:
        Delete the Workload: Kueue makes a new one from the job, with a clean record. Or submit the job again.
    """
    workload = facts.identity.want()
    requeued = condition(workload.status.conditions, "Requeued")
    if workload.spec.active is False or requeued is None or requeued.status != "False":
        return None
    if not requeued.reason.startswith(("DeactivatedDueTo", "InactiveWorkload")):
        return None
    if not texts.deactivation_cause(requeued.reason):
        return None
    about = subject("Workload", workload.name, workload.namespace)
    return Found(
        f"Workload {named('Workload', workload.name, workload.namespace)} is active again, but Kueue still keeps it out of its "
        f"queue for the old deactivation: Requeued is False with reason {quoted(requeued.reason)}.",
        (
            Evidence(about, "spec.active", "true"),
            Evidence(about, "status.conditions[Requeued].reason", quoted(requeued.reason), "kueue"),
        ),
        (
            Step(
                "asker",
                "Delete the Workload, not the job: Kueue makes a new one from the job.",
                f"kubectl -n {workload.namespace} delete workloads.kueue.x-k8s.io {workload.name}",
            ),
        ),
        (about,),
    )
