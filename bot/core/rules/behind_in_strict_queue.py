"""Rule behind-in-strict-queue."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="wait", phases=("waiting",), needs=())
def behind_in_strict_queue(facts: Facts) -> Found | None:
    """Behind in strict queue.

    When:
        it would fit; StrictFIFO, and an earlier workload that does not fit holds everyone up; which, and why it
        waits
    Why it blocks:
    What to do:
    """
    del facts
    return None
