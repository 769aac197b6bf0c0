"""Rule flavor-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def flavor_missing(facts: Facts) -> Found | None:
    """Flavor missing.

    When:
        the ClusterQueue names a ResourceFlavor that does not exist
    Why it blocks:
    What to do:
    """
    del facts
    return None
