"""Rule waiting-for-pods-ready."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="platform", outlook="wait", phases=("waiting",), needs=())
def waiting_for_pods_ready(facts: Facts) -> Found | None:
    """Waiting for pods ready.

    When:
        blockAdmission: Kueue's current text says so, or an admitted workload whose pods are not ready holds
        everyone up; which, or that there is none
    Why it blocks:
    What to do:
    """
    del facts
    return None
