"""Rule workload-not-created."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="platform", outlook="fix", phases=("no-workload",), needs=())
def workload_not_created(facts: Facts) -> Found | None:
    """Workload not created.

    When:
        labelled and suspended (or gated), yet no Workload; names what could not be excluded
    Why it blocks:
    What to do:
    """
    del facts
    return None
