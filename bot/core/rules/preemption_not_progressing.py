"""Rule preemption-not-progressing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="platform", outlook="fix", phases=("waiting",), needs=())
def preemption_not_progressing(facts: Facts) -> Found | None:
    """Preemption not progressing.

    When:
        victims chosen long ago have not gone (their pods hang, or are on a lost node), the same workloads evict
        each other in turns, or others take the same victims each time
    Why it blocks:
    What to do:
    """
    del facts
    return None
