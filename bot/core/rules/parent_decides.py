"""Rule parent-decides."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule(
    "workload",
    move="asker",
    outlook="fix",
    phases=("unmanaged", "no-workload", "waiting", "reserved", "admitted", "finished"),
    needs=(),
)
def parent_decides(facts: Facts) -> Found | None:
    """Parent decides.

    When:
        it has no Workload of its own, and a managed ancestor owns the decision: the headline is the ancestor's
        rule and parent-decides stands in also; it is the headline only when nothing is known of the ancestor
    Why it blocks:
    What to do:
    """
    del facts
    return None
