"""Rule preemption-pending."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="in-progress", phases=("waiting",), needs=())
def preemption_pending(facts: Facts) -> Found | None:
    """Preemption pending.

    When:
        victims are chosen and have not gone yet; which, since when, by which rule
    Why it blocks:
    What to do:
    """
    del facts
    return None
