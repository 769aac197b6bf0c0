"""Rule quota-lent-out."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="wait", phases=("waiting",), needs=())
def quota_lent_out(facts: Facts) -> Found | None:
    """Quota lent out.

    When:
        waits, used + requested ≤ nominal: neighbours borrowed it; whether reclaiming is allowed
    Why it blocks:
    What to do:
    """
    del facts
    return None
