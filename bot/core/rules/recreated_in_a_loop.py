"""Rule recreated-in-a-loop."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule(
    "workload",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "no-workload", "waiting", "reserved", "admitted"),
    needs=(),
)
def recreated_in_a_loop(facts: Facts) -> Found | None:
    """Recreated in a loop.

    When:
        Workload and job are made, started and stopped in turns without an eviction, because something changes
        the job after Kueue copied it (another webhook, a controller): what differs, how often
    Why it blocks:
    What to do:
    """
    del facts
    return None
