"""Rule replacement-pods-needed."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="in-progress", phases=("waiting", "reserved", "admitted"), needs=())
def replacement_pods_needed(facts: Facts) -> Found | None:
    """Replacement pods needed.

    When:
        a pod group that was admitted lost pods, or a single Pod's Workload was evicted and dies with it
    Why it blocks:
    What to do:
    """
    del facts
    return None
