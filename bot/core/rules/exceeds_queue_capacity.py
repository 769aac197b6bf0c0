"""Rule exceeds-queue-capacity."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="asker", outlook="never-as-written", phases=("waiting",), needs=())
def exceeds_queue_capacity(facts: Facts) -> Found | None:
    """Exceeds queue capacity.

    When:
        never, and the ClusterQueue has no cohort
    Why it blocks:
    What to do:
    """
    del facts
    return None
