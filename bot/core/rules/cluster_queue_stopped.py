"""Rule cluster-queue-stopped."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def cluster_queue_stopped(facts: Facts) -> Found | None:
    """Cluster queue stopped.

    When:
        Hold or HoldAndDrain on the ClusterQueue
    Why it blocks:
    What to do:
    """
    del facts
    return None
