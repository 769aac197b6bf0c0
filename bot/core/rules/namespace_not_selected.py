"""Rule namespace-not-selected."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=())
def namespace_not_selected(facts: Facts) -> Found | None:
    """Namespace not selected.

    When:
        namespaceSelector leaves the namespace out (absent selects nothing, {} everything)
    Why it blocks:
    What to do:
    """
    del facts
    return None
