"""Rule running."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("running", move="nobody", outlook="running", phases=("unmanaged", "admitted"), needs=())
def running(facts: Facts) -> Found | None:
    """Running.

    When:
        all pods run; or says m of n run and why the rest do not (then the pods' rule is the headline)
    Why it blocks:
    What to do:
    """
    del facts
    return None
