"""Rule job-not-found."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("lookup", move="asker", outlook="fix", phases=(), needs=())
def job_not_found(facts: Facts) -> Found | None:
    """Job not found.

    When:
        nothing of that name in the namespace, of any served kind, Workload or pod group; what events say of the
        missing object is quoted; close names are offered, other namespaces that have it too if disclosure
        allows
    Why it blocks:
    What to do:
    """
    del facts
    return None
