"""Rule deactivated."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def deactivated(facts: Facts) -> Found | None:
    """Deactivated.

    When:
        spec.active: false by a person or tool: none of Kueue's own causes (the three rules below) is recorded
    Why it blocks:
    What to do:
    """
    del facts
    return None
