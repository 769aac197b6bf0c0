"""Rule requests-invalid."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="never-as-written", phases=("waiting",), needs=())
def requests_invalid(facts: Facts) -> Found | None:
    """Requests invalid.

    When:
        requests above limits, or outside a LimitRange
    Why it blocks:
    What to do:
    """
    del facts
    return None
