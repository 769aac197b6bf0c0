"""Rule no-preemption-candidate."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="unknown", phases=("waiting", "reserved", "admitted"), needs=(), context=True)
def no_preemption_candidate(facts: Facts) -> Found | None:
    """No preemption candidate.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
