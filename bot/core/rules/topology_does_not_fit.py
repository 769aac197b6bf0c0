"""Rule topology-does-not-fit."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="asker", outlook="wait", phases=("waiting",), needs=())
def topology_does_not_fit(facts: Facts) -> Found | None:
    """Topology does not fit.

    When:
        quota is there, no domain has the room; fits x of n at level l, nodes excluded by cause
    Why it blocks:
    What to do:
    """
    del facts
    return None
