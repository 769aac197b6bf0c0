"""Rule child-job-suspended."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def child_job_suspended(facts: Facts) -> Found | None:
    """Child job suspended.

    When:
        Kueue suspends a child job although its parent is admitted, or is not managed
    Why it blocks:
    What to do:
    """
    del facts
    return None
