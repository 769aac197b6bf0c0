"""Rule multikueue-waiting."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("checks", move="nobody", outlook="in-progress", phases=("waiting", "reserved"), needs=())
def multikueue_waiting(facts: Facts) -> Found | None:
    """Multikueue waiting.

    When:
        no worker cluster has taken it; which were asked, what they said, next try
    Why it blocks:
    What to do:
    """
    del facts
    return None
