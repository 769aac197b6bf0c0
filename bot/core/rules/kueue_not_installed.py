"""Rule kueue-not-installed."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("lookup", move="platform", outlook="fix", phases=(), needs=())
def kueue_not_installed(facts: Facts) -> Found | None:
    """Kueue not installed.

    When:
        the kueue.x-k8s.io group is not served
    Why it blocks:
    What to do:
    """
    del facts
    return None
