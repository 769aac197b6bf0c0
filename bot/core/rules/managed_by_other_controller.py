"""Rule managed-by-other-controller."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def managed_by_other_controller(facts: Facts) -> Found | None:
    """Managed by other controller.

    When:
        spec.managedBy names someone other than the kind's own controller
    Why it blocks:
    What to do:
    """
    del facts
    return None
