"""Rule node-taint-not-tolerated."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def node_taint_not_tolerated(facts: Facts) -> Found | None:
    """Node taint not tolerated.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
