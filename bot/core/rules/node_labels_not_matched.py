"""Rule node-labels-not-matched."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def node_labels_not_matched(facts: Facts) -> Found | None:
    """Node labels not matched.

    When:
        node selector or affinity, the flavor's injected labels told apart from the user's own
    Why it blocks:
    What to do:
    """
    del facts
    return None
