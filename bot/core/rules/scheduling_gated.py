"""Rule scheduling-gated."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def scheduling_gated(facts: Facts) -> Found | None:
    """Scheduling gated.

    When:
        a foreign scheduling gate
    Why it blocks:
    What to do:
    """
    del facts
    return None
