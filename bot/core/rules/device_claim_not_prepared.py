"""Rule device-claim-not-prepared."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def device_claim_not_prepared(facts: Facts) -> Found | None:
    """Device claim not prepared.

    When:
        allocated, but the driver on the node does not prepare it
    Why it blocks:
    What to do:
    """
    del facts
    return None
