"""Rule pod-group-incomplete."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("no-workload",), needs=())
def pod_group_incomplete(facts: Facts) -> Found | None:
    """Pod group incomplete.

    When:
        no Workload yet, and fewer pods than pod-group-total-count
    Why it blocks:
    What to do:
    """
    del facts
    return None
