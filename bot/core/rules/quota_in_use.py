"""Rule quota-in-use."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=())
def quota_in_use(facts: Facts) -> Found | None:
    """Quota in use.

    When:
        waits, otherwise, and requested ≤ nominal (or there is no cohort): the queue's own workloads hold it;
        who, how much
    Why it blocks:
    What to do:
    """
    del facts
    return None
