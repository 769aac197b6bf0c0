"""Rule admission-check-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def admission_check_missing(facts: Facts) -> Found | None:
    """Admission check missing.

    When:
        it names an AdmissionCheck that does not exist
    Why it blocks:
    What to do:
    """
    del facts
    return None
