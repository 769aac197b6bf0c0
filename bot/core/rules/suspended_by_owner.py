"""Rule suspended-by-owner."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("unmanaged",), needs=())
def suspended_by_owner(facts: Facts) -> Found | None:
    """Suspended by owner.

    When:
        suspended, no queue label, Kueue does not manage it: nobody will start it
    Why it blocks:
    What to do:
    """
    del facts
    return None
