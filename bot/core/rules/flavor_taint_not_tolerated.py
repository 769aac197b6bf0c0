"""Rule flavor-taint-not-tolerated."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="asker", outlook="never-as-written", phases=("waiting",), needs=())
def flavor_taint_not_tolerated(facts: Facts) -> Found | None:
    """Flavor taint not tolerated.

    When:
        every flavor is excluded, and a taint (of the flavor, tolerated neither by the pods nor by the flavor's
        own tolerations) excludes at least one
    Why it blocks:
    What to do:
    """
    del facts
    return None
