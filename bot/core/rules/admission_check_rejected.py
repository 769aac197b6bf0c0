"""Rule admission-check-rejected."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def admission_check_rejected(facts: Facts) -> Found | None:
    """Admission check rejected.

    When:
        a check said Rejected
    Why it blocks:
    What to do:
    """
    del facts
    return None
