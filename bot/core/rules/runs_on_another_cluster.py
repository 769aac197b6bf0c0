"""Rule runs-on-another-cluster."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="nobody", outlook="in-progress", phases=("unmanaged", "admitted"), needs=())
def runs_on_another_cluster(facts: Facts) -> Found | None:
    """Runs on another cluster.

    When:
        MultiKueue runs it elsewhere; which, and what that cluster said
    Why it blocks:
    What to do:
    """
    del facts
    return None
