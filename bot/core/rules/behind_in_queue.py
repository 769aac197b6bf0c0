"""Rule behind-in-queue."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=())
def behind_in_queue(facts: Facts) -> Found | None:
    """Behind in queue.

    When:
        it would fit, and others stand before it; position, who is ahead, sizes; also a head that sticks because
        of its own preemptions, or a neighbour's head for which Kueue sets quota aside
    Why it blocks:
    What to do:
    """
    del facts
    return None
