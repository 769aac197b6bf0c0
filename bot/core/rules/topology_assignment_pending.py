"""Rule topology-assignment-pending."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("checks", move="platform", outlook="in-progress", phases=("waiting", "reserved"), needs=())
def topology_assignment_pending(facts: Facts) -> Found | None:
    """Topology assignment pending.

    When:
        the second pass has not placed it (also when only an event says so)
    Why it blocks:
    What to do:
    """
    del facts
    return None
