"""Rule not-evaluated-yet."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="in-progress", phases=("waiting",), needs=())
def not_evaluated_yet(facts: Facts) -> Found | None:
    """Not evaluated yet.

    When:
        no quota condition yet, and young; or the text is the eviction's and no look has followed
    Why it blocks:
    What to do:
    """
    del facts
    return None
