"""Rule workload-rejected."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import titled
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("unmanaged", "no-workload"), needs=("Event",))
def workload_rejected(facts: Facts) -> Found | None:
    """Its Workload cannot be created.

    When:
        There is no Workload, and the job cannot be turned into one: it has more pod sets than a Workload may have (8 up to Kueue
        0.17, 10 in 0.18, 18 since 0.19), it requests the resource `pods` or a negative amount; or a recent event says that
        Kueue's validation refused the Workload or the job.
    Why it blocks:
        Kueue tries again, but the same job is refused every time.
    What to do:
        Change the job as the text says, and create it again.
    """
    refused, item = facts.membership.refused, facts.identity.root
    if refused is None or item is None:
        return None
    return Found(
        f"Kueue cannot make a Workload of {titled(item)}: {refused.says}",
        (
            Evidence(
                refused.subject,
                refused.field,
                refused.value,
                "kueue" if refused.field.startswith("event") else "cluster",
            ),
        ),
        (Step("asker", "Change the job as the text says, and create it again."),),
        (refused.subject,),
        certainty="certain" if refused.certain else "reported",
    )
