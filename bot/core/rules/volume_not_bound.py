"""Rule volume-not-bound."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def volume_not_bound(facts: Facts) -> Found | None:
    """Volume not bound.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
