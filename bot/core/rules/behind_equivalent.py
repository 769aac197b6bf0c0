"""Rule behind-equivalent."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=())
def behind_equivalent(facts: Facts) -> Found | None:
    """Behind equivalent.

    When:
        it would fit or is not looked at; an equal workload failed and this one was parked without a look
    Why it blocks:
    What to do:
    """
    del facts
    return None
