"""Rule workload-rejected."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("no-workload",), needs=())
def workload_rejected(facts: Facts) -> Found | None:
    """Workload rejected.

    When:
        the Workload could not be created (too many pod sets, bad minCount …)
    Why it blocks:
    What to do:
    """
    del facts
    return None
