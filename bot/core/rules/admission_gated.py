"""Rule admission-gated."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=())
def admission_gated(facts: Facts) -> Found | None:
    """Admission gated.

    When:
        the admission-gated-by annotation is set
    Why it blocks:
    What to do:
    """
    del facts
    return None
