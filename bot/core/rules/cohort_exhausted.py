"""Rule cohort-exhausted."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=())
def cohort_exhausted(facts: Facts) -> Found | None:
    """Cohort exhausted.

    When:
        waits, otherwise: it must borrow and the cohort has nothing left
    Why it blocks:
    What to do:
    """
    del facts
    return None
