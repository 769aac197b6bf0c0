"""Rule topology-assignment-unusable."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def topology_assignment_unusable(facts: Facts) -> Found | None:
    """Topology assignment unusable.

    When:
        Kueue placed the pods on nodes that refuse them (taint, occupied, selector, gone), or the assignment
        does not match the pods
    Why it blocks:
    What to do:
    """
    del facts
    return None
