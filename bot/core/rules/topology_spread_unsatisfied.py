"""Rule topology-spread-unsatisfied."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def topology_spread_unsatisfied(facts: Facts) -> Found | None:
    """Topology spread unsatisfied.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
