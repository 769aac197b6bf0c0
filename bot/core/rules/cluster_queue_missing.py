"""Rule cluster-queue-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def cluster_queue_missing(facts: Facts) -> Found | None:
    """Cluster queue missing.

    When:
        the LocalQueue points nowhere
    Why it blocks:
    What to do:
    """
    del facts
    return None
