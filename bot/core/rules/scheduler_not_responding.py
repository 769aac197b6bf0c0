"""Rule scheduler-not-responding."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def scheduler_not_responding(facts: Facts) -> Found | None:
    """Scheduler not responding.

    When:
        no condition, no event, and no reason above: the named scheduler is not there
    Why it blocks:
    What to do:
    """
    del facts
    return None
