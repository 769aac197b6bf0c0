"""Rule old-pods-still-terminating."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="in-progress", phases=("no-workload",), needs=())
def old_pods_still_terminating(facts: Facts) -> Found | None:
    """Old pods still terminating.

    When:
        suspended, but earlier pods have not gone
    Why it blocks:
    What to do:
    """
    del facts
    return None
