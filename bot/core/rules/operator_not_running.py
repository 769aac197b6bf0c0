"""Rule operator-not-running."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def operator_not_running(facts: Facts) -> Found | None:
    """Operator not running.

    When:
        unsuspended, no pods, nobody acts on the kind
    Why it blocks:
    What to do:
    """
    del facts
    return None
