"""Rule pod-creation-forbidden-policy."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def pod_creation_forbidden_policy(facts: Facts) -> Found | None:
    """Pod creation forbidden policy.

    When:
        Pod Security or another admission webhook
    Why it blocks:
    What to do:
    """
    del facts
    return None
