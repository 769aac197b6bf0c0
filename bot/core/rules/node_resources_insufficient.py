"""Rule node-resources-insufficient."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def node_resources_insufficient(facts: Facts) -> Found | None:
    """Node resources insufficient.

    When:
        no node has the room; asked, largest free, largest node, fragmented or too big anywhere
    Why it blocks:
    What to do:
    """
    del facts
    return None
