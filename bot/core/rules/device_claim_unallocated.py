"""Rule device-claim-unallocated."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def device_claim_unallocated(facts: Facts) -> Found | None:
    """Device claim unallocated.

    When:
        a DRA claim is missing or waits at the scheduler
    Why it blocks:
    What to do:
    """
    del facts
    return None
