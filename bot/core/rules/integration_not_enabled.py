"""Rule integration-not-enabled."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="platform", outlook="fix", phases=("unmanaged", "no-workload"), needs=())
def integration_not_enabled(facts: Facts) -> Found | None:
    """Integration not enabled.

    When:
        the kind is known but not switched on, or unknown to this Kueue
    Why it blocks:
    What to do:
    """
    del facts
    return None
