"""Rule kueue-gate-remains."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def kueue_gate_remains(facts: Facts) -> Found | None:
    """Kueue gate remains.

    When:
        Kueue's own gate on an admitted workload's pods
    Why it blocks:
    What to do:
    """
    del facts
    return None
