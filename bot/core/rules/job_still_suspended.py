"""Rule job-still-suspended."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def job_still_suspended(facts: Facts) -> Found | None:
    """Job still suspended.

    When:
        Admitted and yet suspended
    Why it blocks:
    What to do:
    """
    del facts
    return None
