"""Rule exceeds-cohort-capacity."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="never-as-written", phases=("waiting",), needs=())
def exceeds_cohort_capacity(facts: Facts) -> Found | None:
    """Exceeds cohort capacity.

    When:
        never, otherwise: the tree, its lending limits included, has no more
    Why it blocks:
    What to do:
    """
    del facts
    return None
