"""Rule access-denied."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("lookup", move="platform", outlook="unknown", phases=(), needs=())
def access_denied(facts: Facts) -> Found | None:
    """Access denied.

    When:
        the bot's own identity may not read what the question needs
    Why it blocks:
    What to do:
    """
    del facts
    return None
