"""Facts: pods."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.core.facts import Facts


class Pods:
    """Facts about pods."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
