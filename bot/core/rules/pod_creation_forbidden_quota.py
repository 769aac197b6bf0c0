"""Rule pod-creation-forbidden-quota."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def pod_creation_forbidden_quota(facts: Facts) -> Found | None:
    """Pod creation forbidden quota.

    When:
        ResourceQuota; which, used of hard
    Why it blocks:
    What to do:
    """
    del facts
    return None
