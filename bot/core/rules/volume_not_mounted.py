"""Rule volume-not-mounted."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("start", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def volume_not_mounted(facts: Facts) -> Found | None:
    """Volume not mounted.

    When:
        FailedMount, FailedAttachVolume, multi-attach
    Why it blocks:
    What to do:
    """
    del facts
    return None
