"""Rule scaled-to-zero."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule(
    "workload",
    move="asker",
    outlook="fix",
    phases=("unmanaged", "no-workload", "waiting", "reserved", "admitted"),
    needs=(),
)
def scaled_to_zero(facts: Facts) -> Found | None:
    """Scaled to zero.

    When:
        zero replicas
    Why it blocks:
    What to do:
    """
    del facts
    return None
