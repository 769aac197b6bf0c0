"""Rule cluster-queue-terminating."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def cluster_queue_terminating(facts: Facts) -> Found | None:
    """Cluster queue terminating.

    When:
        being deleted
    Why it blocks:
    What to do:
    """
    del facts
    return None
