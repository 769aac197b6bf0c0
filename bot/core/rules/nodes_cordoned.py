"""Rule nodes-cordoned."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def nodes_cordoned(facts: Facts) -> Found | None:
    """Nodes cordoned.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
