"""Rule better-variant-admitted."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="unknown", phases=("waiting", "reserved", "admitted"), needs=(), context=True)
def better_variant_admitted(facts: Facts) -> Found | None:
    """Better variant admitted.

    When:
        see the rules
    Why it blocks:
    What to do:
    """
    del facts
    return None
