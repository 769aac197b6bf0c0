"""Rule priority-class-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("no-workload",), needs=())
def priority_class_missing(facts: Facts) -> Found | None:
    """Priority class missing.

    When:
        the named WorkloadPriorityClass or PriorityClass does not exist
    Why it blocks:
    What to do:
    """
    del facts
    return None
