"""Rule local-queue-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=())
def local_queue_missing(facts: Facts) -> Found | None:
    """Local queue missing.

    When:
        the Workload's queue name (an empty one included) names no LocalQueue here; close names offered
    Why it blocks:
    What to do:
    """
    del facts
    return None
