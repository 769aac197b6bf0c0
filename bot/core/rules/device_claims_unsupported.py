"""Rule device-claims-unsupported."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=())
def device_claims_unsupported(facts: Facts) -> Found | None:
    """Device claims unsupported.

    When:
        resource claims that Kueue cannot count
    Why it blocks:
    What to do:
    """
    del facts
    return None
