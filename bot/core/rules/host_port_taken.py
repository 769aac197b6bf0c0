"""Rule host-port-taken."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def host_port_taken(facts: Facts) -> Found | None:
    """Host port taken.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
