"""Rule queue-name-misplaced."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("unmanaged",), needs=())
def queue_name_misplaced(facts: Facts) -> Found | None:
    """Queue name misplaced.

    When:
        no queue label, but a near-miss of its key (queue, queue_name, annotation, pod template only)
    Why it blocks:
    What to do:
    """
    del facts
    return None
