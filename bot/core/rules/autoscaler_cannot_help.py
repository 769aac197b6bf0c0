"""Rule autoscaler-cannot-help."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def autoscaler_cannot_help(facts: Facts) -> Found | None:
    """Autoscaler cannot help.

    When:
        the autoscaler said why it adds no node; beside the scheduler's reason
    Why it blocks:
    What to do:
    """
    del facts
    return None
