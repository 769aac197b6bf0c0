"""Rule no-nodes."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def no_nodes(facts: Facts) -> Found | None:
    """No nodes.

    When:
        there are no nodes
    Why it blocks:
    What to do:
    """
    del facts
    return None
