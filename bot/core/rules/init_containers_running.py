"""Rule init-containers-running."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("start", move="nobody", outlook="in-progress", phases=("unmanaged", "admitted"), needs=())
def init_containers_running(facts: Facts) -> Found | None:
    """Init containers running.

    When:
        which one, since when
    Why it blocks:
    What to do:
    """
    del facts
    return None
