"""Rule container-crashing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("start", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def container_crashing(facts: Facts) -> Found | None:
    """Container crashing.

    When:
        CrashLoopBackOff, exit code, last reason
    Why it blocks:
    What to do:
    """
    del facts
    return None
