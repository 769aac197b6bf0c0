"""Rule workload-terminating."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("queue", move="platform", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=())
def workload_terminating(facts: Facts) -> Found | None:
    """Workload terminating.

    When:
        the Workload is being deleted and a finalizer holds it
    Why it blocks:
    What to do:
    """
    del facts
    return None
