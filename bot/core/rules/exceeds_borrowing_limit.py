"""Rule exceeds-borrowing-limit."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="never-as-written", phases=("waiting",), needs=())
def exceeds_borrowing_limit(facts: Facts) -> Found | None:
    """Exceeds borrowing limit.

    When:
        never, and lifting the borrowing limits on the way (the queue's own, ancestor cohorts') would raise the
        capacity
    Why it blocks:
    What to do:
    """
    del facts
    return None
