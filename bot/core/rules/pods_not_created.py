"""Rule pods-not-created."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def pods_not_created(facts: Facts) -> Found | None:
    """Pods not created.

    When:
        none of the above, and still none
    Why it blocks:
    What to do:
    """
    del facts
    return None
