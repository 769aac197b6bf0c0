"""Rule not-managed-by-kueue."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("unmanaged",), needs=(), only_also=True)
def not_managed_by_kueue(facts: Facts) -> Found | None:
    """Not managed by kueue.

    When:
        no queue label and not suspended: only ever in also, beside whatever the pods say
    Why it blocks:
    What to do:
    """
    del facts
    return None
