"""Rule job-spec-rejected-by-operator."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def job_spec_rejected_by_operator(facts: Facts) -> Found | None:
    """Job spec rejected by operator.

    When:
        the kind's operator refuses the spec; nothing will ever run
    Why it blocks:
    What to do:
    """
    del facts
    return None
