"""A fact is computed once, on first use, and so is the verdict that it cannot be known."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from bot.core.snapshot import Unknown

T = TypeVar("T")


class fact(Generic[T]):  # noqa: N801 - used as a decorator
    """Like functools.cached_property, but a raised `Unknown` is remembered as well and raised again."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        """Take the method that computes the fact."""
        self._compute = compute
        self.__doc__ = compute.__doc__
        self._key = f"_fact_{compute.__name__}"

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember under which name the value is kept."""
        self._key = f"_fact_{name}"

    @overload
    def __get__(self, instance: None, owner: type) -> "fact[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> "T | fact[T]":
        """Give the value, computed at most once per instance. Raises Unknown when it cannot be known."""
        if instance is None:
            return self
        kept = instance.__dict__
        if self._key not in kept:
            try:
                kept[self._key] = self._compute(instance)
            except Unknown as unknown:
                kept[self._key] = unknown
        value = kept[self._key]
        if isinstance(value, Unknown):
            raise Unknown(value.reason)
        result: T = value
        return result
