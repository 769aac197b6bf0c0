"""Rule provisioning-failed."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("checks", move="platform", outlook="fix", phases=("waiting", "reserved"), needs=())
def provisioning_failed(facts: Facts) -> Found | None:
    """Provisioning failed.

    When:
        the autoscaler said no and no attempt is open (also when the quota was given back since); retries left
    Why it blocks:
    What to do:
    """
    del facts
    return None
