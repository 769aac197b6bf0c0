"""Rule provisioning-pending."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("checks", move="nobody", outlook="in-progress", phases=("waiting", "reserved"), needs=())
def provisioning_pending(facts: Facts) -> Found | None:
    """Provisioning pending.

    When:
        an attempt is open: asked, neither provisioned nor failed; which attempt, next try, ETA text
    Why it blocks:
    What to do:
    """
    del facts
    return None
