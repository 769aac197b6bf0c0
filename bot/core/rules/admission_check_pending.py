"""Rule admission-check-pending."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("checks", move="platform", outlook="in-progress", phases=("waiting", "reserved"), needs=())
def admission_check_pending(facts: Facts) -> Found | None:
    """Admission check pending.

    When:
        any other check, or a provisioning check of which no request exists, has not answered, or said Retry
        (also when the quota was given back since); its own message
    Why it blocks:
    What to do:
    """
    del facts
    return None
