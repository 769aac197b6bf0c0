"""Kubernetes quantities as integers in the unit in which Kueue counts, and back to short text.

Kueue counts CPU in milli-CPU and everything else in whole units, always rounded up, clamped to int64
(Kueue `pkg/resources`; Kubernetes `apimachinery/pkg/api/resource`).
"""

import math
import re
from decimal import Decimal
from functools import lru_cache

MAX = 2**63 - 1
"""At or above this, Kueue means "no limit" (saturated int64)."""

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
}
_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]{1,64}(?:\.[0-9]{0,64})?|\.[0-9]{1,64}))(?:([eE][+-]?[0-9]{1,3})|([KMGTPE]i|[numkMGTPE]))?",
    re.ASCII,
)

Quantity = str | int | float
"""A quantity as JSON carries it: text, or a bare number in custom resources."""


def parse(text: Quantity) -> Decimal:
    """Give the exact value of a quantity.

    Raises ValueError, naming the text, when it is not a Kubernetes quantity.
    """
    found = _QUANTITY.fullmatch(text if isinstance(text, str) else repr(text))
    if found is None or isinstance(text, bool):
        msg = f"not a Kubernetes quantity: {str(text)[:80]!r}; a right one looks like '4', '500m' or '16Gi'"
        raise ValueError(msg)
    number, exponent, suffix = found.groups()
    if exponent is not None:
        return Decimal(number + exponent)
    return Decimal(number) * (_BINARY.get(suffix) or _DECIMAL[suffix or ""])


@lru_cache(maxsize=8192)
def _amount(text: Quantity, *, milli: bool) -> int:
    value = parse(text) * (1000 if milli else 1)
    if value >= MAX:
        return MAX
    return math.ceil(value) if value >= 0 else math.floor(value)


def amount(resource: str, text: Quantity) -> int:
    """Give a quantity of `resource` as Kueue counts it: milli-CPU for cpu, whole units else, rounded away from zero.

    Raises ValueError when the text is not a quantity.
    """
    return _amount(text, milli=resource == "cpu")


def readable(resource: str, text: Quantity | None) -> int | None:
    """Give `amount`, None where nothing is said or the text is not a quantity."""
    try:
        return None if text is None else amount(resource, text)
    except ValueError:
        return None


def canonical(resource: str, value: int) -> str:
    """Give an amount in Kueue's unit as a canonical quantity: "1500m", "10Gi", "4"."""
    if resource == "cpu":
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"
    if resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-"):
        for suffix, size in reversed(_BINARY.items()):
            if value and value % size == 0:
                return f"{value // size}{suffix}"
    return str(value)


def human(resource: str, value: int) -> str:
    """Give an amount for people: like `canonical`, but long byte figures are shortened to two decimals ("9.31Gi")."""
    text = canonical(resource, value)
    if text.isdigit() and len(text) > 6 and (resource in {"memory", "ephemeral-storage"}):
        for suffix, size in reversed(_BINARY.items()):
            if value >= size:
                return f"{value / size:.2f}".rstrip("0").rstrip(".") + suffix
    return text
