"""Names close to one that does not exist: what somebody probably meant."""

import re
from collections.abc import Iterable

_ENOUGH = 0.7
_MOST = 5_000
_PUNCTUATION = re.compile(r"[^a-z0-9]+")


def score(wanted: str, name: str) -> float:
    """Give 0 (nothing in common) to 1 (equal but for case and punctuation), the same in both directions.

    A name that the other one starts or ends with, at a "-", "." or "_", counts as close however long the rest is:
    "low" and "low-priority".
    """
    first, second = sorted((wanted.lower(), name.lower()))
    bare_first, bare_second = _PUNCTUATION.sub("", first), _PUNCTUATION.sub("", second)
    if bare_first == bare_second:
        return 1.0 if bare_first else 0.0
    short, long = sorted((_PUNCTUATION.split(first), _PUNCTUATION.split(second)), key=len)
    parts = len(short)
    if parts < len(long) and any(short) and short in (long[:parts], long[-parts:]):
        return 0.9
    from difflib import SequenceMatcher  # noqa: PLC0415 - slow to load, and few answers come here

    return SequenceMatcher(None, bare_first, bare_second, autojunk=False).ratio()


def closest(wanted: str, names: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Give the names that are close to a name that does not exist, best first, at most `limit`; never the name itself.

    The order of `names` does not matter. Of very many names only those of a similar length are looked at.
    """
    found = sorted({name for name in names if name and name != wanted})
    if len(found) > _MOST:
        found = sorted(found, key=lambda name: (abs(len(name) - len(wanted)), name))[:_MOST]
    rated = [(score(wanted, name), name) for name in found if _plausible(wanted, name)]
    return tuple(name for rate, name in sorted(rated, key=lambda entry: (-entry[0], entry[1])) if rate >= _ENOUGH)[
        :limit
    ]


def _plausible(wanted: str, name: str) -> bool:
    """Say cheaply whether the two can be close at all: enough characters in common."""
    one, other = set(wanted.lower()), set(name.lower())
    return len(one & other) * 2 >= min(len(one), len(other))
