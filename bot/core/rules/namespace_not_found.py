"""Rule namespace-not-found."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("lookup", move="asker", outlook="fix", phases=(), needs=())
def namespace_not_found(facts: Facts) -> Found | None:
    """Namespace not found.

    When:
        the namespace does not exist; names close to it are offered
    Why it blocks:
    What to do:
    """
    del facts
    return None
