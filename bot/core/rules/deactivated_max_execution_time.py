"""Rule deactivated-max-execution-time."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def deactivated_max_execution_time(facts: Facts) -> Found | None:
    """Deactivated max execution time.

    When:
        ran longer than allowed
    Why it blocks:
    What to do:
    """
    del facts
    return None
