"""Quantities: the parser against the Kubernetes client's own, and Kueue's units."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from bot.core.quantity import MAX, amount, canonical, human, parse

NUMBERS = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(0, 10**6, places=3, allow_nan=False, allow_infinity=False).map(lambda d: format(d, "f")),
)
SUFFIXES = st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])


@given(number=NUMBERS, suffix=SUFFIXES)
def test_equal_to_the_kubernetes_client(number: str, suffix: str) -> None:
    assert parse(number + suffix) == parse_quantity(number + suffix)


@given(number=st.integers(-999, 999), exponent=st.integers(-9, 15), letter=st.sampled_from(["e", "E"]))
def test_exponents_equal_to_the_kubernetes_client(number: int, exponent: int, letter: str) -> None:
    assert parse(f"{number}{letter}{exponent}") == parse_quantity(f"{number}{letter}{exponent}")


@pytest.mark.parametrize(
    "text", ["", " ", "4 ", "Gi", "1.2.3", "4GiB", "4gi", "--1", "0x10", "NaN", "inf", "1e", "٣", "1_000", True]
)
def test_refuses_what_is_not_a_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        parse(text)


@pytest.mark.parametrize(
    ("resource", "text", "expected"),
    [
        ("cpu", "1", 1000), ("cpu", "1500m", 1500), ("cpu", "0.1", 100), ("cpu", "100u", 1), ("cpu", 2, 2000),
        ("cpu", "1n", 1), ("memory", "1Gi", 2**30), ("memory", "1500m", 2), ("memory", "1e3", 1000), ("pods", 3, 3),
        ("nvidia.com/gpu", "8", 8), ("memory", "8Ei", MAX), ("cpu", "9223372036854775807", MAX), ("memory", "16Ei", MAX),
    ],
)  # fmt: skip
def test_counts_as_kueue_does(resource: str, text: str, expected: int) -> None:
    assert amount(resource, text) == expected


@given(resource=st.sampled_from(["cpu", "memory", "pods", "nvidia.com/gpu"]), value=st.integers(0, MAX - 1))
def test_canonical_text_reads_back(resource: str, value: int) -> None:
    assert amount(resource, canonical(resource, value)) == value


@given(value=st.integers(0, 2**50))
def test_text_for_people_is_close(value: int) -> None:
    shown = parse(human("memory", value))
    assert abs(shown - value) <= max(Decimal(value) / 100, Decimal(1))
