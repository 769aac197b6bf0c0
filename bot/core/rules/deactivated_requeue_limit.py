"""Rule deactivated-requeue-limit."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def deactivated_requeue_limit(facts: Facts) -> Found | None:
    """Deactivated requeue limit.

    When:
        Kueue gave up after too many PodsReady requeues
    Why it blocks:
    What to do:
    """
    del facts
    return None
