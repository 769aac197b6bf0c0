"""Rule reactivation-ignored."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=())
def reactivation_ignored(facts: Facts) -> Found | None:
    """Reactivation ignored.

    When:
        active again, but the old deactivation still blocks requeueing
    Why it blocks:
    What to do:
    """
    del facts
    return None
