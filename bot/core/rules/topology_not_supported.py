"""Rule topology-not-supported."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="asker", outlook="never-as-written", phases=("waiting",), needs=())
def topology_not_supported(facts: Facts) -> Found | None:
    """Topology not supported.

    When:
        every flavor with room is excluded because request and topology do not match (no topology, unknown
        level, topology-only flavor, a pod set that gets no flavor)
    Why it blocks:
    What to do:
    """
    del facts
    return None
