"""Rule volume-claim-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def volume_claim_missing(facts: Facts) -> Found | None:
    """Volume claim missing.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
