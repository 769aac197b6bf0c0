"""Rule name-is-ambiguous."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("lookup", move="asker", outlook="fix", phases=(), needs=())
def name_is_ambiguous(facts: Facts) -> Found | None:
    """Name is ambiguous.

    When:
        several kinds share the name and more than one is waiting; each is listed with its own one-line answer
        and how to ask for it
    Why it blocks:
    What to do:
    """
    del facts
    return None
