"""Rule finished-without-running."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("finished", move="asker", outlook="finished", phases=("finished",), needs=())
def finished_without_running(facts: Facts) -> Found | None:
    """Finished without running.

    When:
        finished although it never ran
    Why it blocks:
    What to do:
    """
    del facts
    return None
