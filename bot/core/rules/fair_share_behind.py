"""Rule fair-share-behind."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=())
def fair_share_behind(facts: Facts) -> Found | None:
    """Fair share behind.

    When:
        it would fit; usage-based or fair sharing puts others first
    Why it blocks:
    What to do:
    """
    del facts
    return None
