"""Rule pod-group-inconsistent."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("no-workload", "waiting"), needs=())
def pod_group_inconsistent(facts: Facts) -> Found | None:
    """Pod group inconsistent.

    When:
        pods of one group disagree, or the name is taken
    Why it blocks:
    What to do:
    """
    del facts
    return None
