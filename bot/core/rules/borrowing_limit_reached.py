"""Rule borrowing-limit-reached."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=())
def borrowing_limit_reached(facts: Facts) -> Found | None:
    """Borrowing limit reached.

    When:
        waits, and would fit now if the borrowing limits on the way were lifted
    Why it blocks:
    What to do:
    """
    del facts
    return None
