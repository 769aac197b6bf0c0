"""Rule resource-not-covered."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="never-as-written", phases=("waiting",), needs=())
def resource_not_covered(facts: Facts) -> Found | None:
    """Resource not covered.

    When:
        no resource group covers a requested resource
    Why it blocks:
    What to do:
    """
    del facts
    return None
