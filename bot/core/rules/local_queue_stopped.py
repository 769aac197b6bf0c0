"""Rule local-queue-stopped."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def local_queue_stopped(facts: Facts) -> Found | None:
    """Local queue stopped.

    When:
        Hold or HoldAndDrain on the LocalQueue
    Why it blocks:
    What to do:
    """
    del facts
    return None
