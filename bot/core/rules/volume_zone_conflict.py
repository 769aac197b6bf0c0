"""Rule volume-zone-conflict."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def volume_zone_conflict(facts: Facts) -> Found | None:
    """Volume zone conflict.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
