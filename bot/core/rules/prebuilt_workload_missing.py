"""Rule prebuilt-workload-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("no-workload",), needs=())
def prebuilt_workload_missing(facts: Facts) -> Found | None:
    """Prebuilt workload missing.

    When:
        the named prebuilt Workload is absent or another job's
    Why it blocks:
    What to do:
    """
    del facts
    return None
