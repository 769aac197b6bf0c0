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
        self._name = compute.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember under which name the value is kept."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "fact[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> "T | fact[T]":
        """Give the value, computed at most once per instance. Raises Unknown when it cannot be known.

        The value takes this descriptor's place in the instance, so that nothing but the first look comes here.
        """
        if instance is None:
            return self
        kept = instance.__dict__
        unknown = f"_unknown_{self._name}"
        if unknown in kept:
            raise Unknown(kept[unknown])
        try:
            value = kept[self._name] = self._compute(instance)
        except Unknown as error:
            kept[unknown] = error.reason
            raise
        return value
