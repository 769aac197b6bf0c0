"""Rule admission-check-inactive."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="platform", outlook="fix", phases=("waiting",), needs=())
def admission_check_inactive(facts: Facts) -> Found | None:
    """Admission check inactive.

    When:
        the check's controller is not there or its parameters are bad
    Why it blocks:
    What to do:
    """
    del facts
    return None
