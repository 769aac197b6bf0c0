"""Rule sandbox-not-created."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("start", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def sandbox_not_created(facts: Facts) -> Found | None:
    """Sandbox not created.

    When:
        CNI, runtime
    Why it blocks:
    What to do:
    """
    del facts
    return None
