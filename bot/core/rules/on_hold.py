"""Rule on-hold."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def on_hold(facts: Facts) -> Found | None:
    """On hold.

    When:
        OnHold
    Why it blocks:
    What to do:
    """
    del facts
    return None
