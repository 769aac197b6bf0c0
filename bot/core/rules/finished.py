"""Rule finished."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("finished", move="nobody", outlook="finished", phases=("finished",), needs=())
def finished(facts: Facts) -> Found | None:
    """Finished.

    When:
        succeeded or failed, with the job's own message
    Why it blocks:
    What to do:
    """
    del facts
    return None
