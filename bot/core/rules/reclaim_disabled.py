"""Rule reclaim-disabled."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="unknown", phases=("waiting", "reserved", "admitted"), needs=(), context=True)
def reclaim_disabled(facts: Facts) -> Found | None:
    """Reclaim disabled.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
