"""Rule cluster-queue-misconfigured."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def cluster_queue_misconfigured(facts: Facts) -> Found | None:
    """Cluster queue misconfigured.

    When:
        any other reason for which it is not Active
    Why it blocks:
    What to do:
    """
    del facts
    return None
