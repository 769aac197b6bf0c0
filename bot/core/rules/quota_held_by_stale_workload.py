"""Rule quota-held-by-stale-workload."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="platform", outlook="fix", phases=("waiting",), needs=())
def quota_held_by_stale_workload(facts: Facts) -> Found | None:
    """Quota held by stale workload.

    When:
        waits, and a holder runs nothing for long: evicted and not released, owner gone, scaled to zero, or it
        is the asked object's own earlier Workload (not the slice being replaced) or its parent's
    Why it blocks:
    What to do:
    """
    del facts
    return None
