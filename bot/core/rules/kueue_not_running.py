"""Rule kueue-not-running."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="platform", outlook="fix", phases=("unmanaged", "no-workload", "waiting"), needs=())
def kueue_not_running(facts: Facts) -> Found | None:
    """Kueue not running.

    When:
        no ready controller, stale leader lease, webhook unreachable
    Why it blocks:
    What to do:
    """
    del facts
    return None
