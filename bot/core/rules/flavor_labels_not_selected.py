"""Rule flavor-labels-not-selected."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("quota", move="asker", outlook="never-as-written", phases=("waiting",), needs=())
def flavor_labels_not_selected(facts: Facts) -> Found | None:
    """Flavor labels not selected.

    When:
        every flavor is excluded, by node labels alone
    Why it blocks:
    What to do:
    """
    del facts
    return None
