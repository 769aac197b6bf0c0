"""Rule fits-but-not-admitted."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="platform", outlook="fix", phases=("waiting",), needs=())
def fits_but_not_admitted(facts: Facts) -> Found | None:
    """Fits but not admitted.

    When:
        by the arithmetic it fits now, and Kueue has not admitted it: its last look is older than what changed
        since, or a defect; says what would make it look again, and names the flavor (and domain) that has the
        room
    Why it blocks:
    What to do:
    """
    del facts
    return None
