"""Rule cohort-cycle."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def cohort_cycle(facts: Facts) -> Found | None:
    """Cohort cycle.

    When:
        the cohort parents form a ring; the ClusterQueue still says Active
    Why it blocks:
    What to do:
    """
    del facts
    return None
