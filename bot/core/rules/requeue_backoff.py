"""Rule requeue-backoff."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="wait", phases=("waiting",), needs=())
def requeue_backoff(facts: Facts) -> Found | None:
    """Requeue backoff.

    When:
        waits out a backoff; says until when, and why it was evicted
    Why it blocks:
    What to do:
    """
    del facts
    return None
