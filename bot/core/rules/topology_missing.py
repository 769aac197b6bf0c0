"""Rule topology-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def topology_missing(facts: Facts) -> Found | None:
    """Topology missing.

    When:
        a flavor names a Topology that does not exist
    Why it blocks:
    What to do:
    """
    del facts
    return None
