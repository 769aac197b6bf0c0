"""Regular expressions that are compiled when they are first used.

Compiling all that the parsers of Kueue's texts know takes longer than the rest of an answer from a file; one answer needs
a few of them.
"""

import re
from typing import Any, cast

LONGEST = 32 * 1024  # Kueue cuts a condition's message there
SHORT = 4 * 1024  # enough for the texts of queues and checks


class _Later:
    """Stands in for a compiled pattern until somebody uses it."""

    __slots__ = ("_compiled", "_source")

    def __init__(self, text: str, flags: int) -> None:
        self._source = text, flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        if self._compiled is None:
            self._compiled = re.compile(*self._source)
        return getattr(self._compiled, name)


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Give a pattern that is compiled on first use. Raises re.error then, not here, when the text is no pattern."""
    return cast("re.Pattern[str]", _Later(text, flags))
