"""Frozen dataclasses that are quick to define and to make.

`explain -f` defines more than a hundred of them before it answers, and the standard decorator compiles six functions for
each: half of all its time. Here `__init__` alone is compiled, and sets the slots themselves; comparing, hashing, showing
and refusing to be changed are shared. To the type checker this is `dataclasses.dataclass` itself.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses
    from operator import attrgetter

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:  # noqa: ANN401 - a class or a decorator
        """Make a dataclass; a frozen one with slots is made the quick way."""
        if options != {"frozen": True, "slots": True}:
            return dataclasses.dataclass(cls, **options)
        return _record

    def _record(cls: type) -> type:
        made = dataclasses.dataclass(slots=True, init=False, eq=False, repr=False)(cls)
        fields = dataclasses.fields(made)
        names = [field.name for field in fields]
        values = attrgetter(*names) if names else lambda _: ()

        def __eq__(self: object, other: object) -> bool:  # noqa: N807 - becomes the class's own
            return values(self) == values(other) if other.__class__ is made else NotImplemented

        def __hash__(self: object) -> int:  # noqa: N807
            return hash(values(self))

        made.__init__ = _init(made, fields)
        made.__eq__, made.__hash__, made.__repr__ = __eq__, __hash__, _repr
        made.__setattr__, made.__delattr__ = _once, _never
        return made

    def _init(made: type, fields: tuple[dataclasses.Field[Any], ...]) -> Any:  # noqa: ANN401 - a function
        """Compile `__init__`: what it sets are slots, past `__setattr__`."""
        known: dict[str, Any] = {"_missing": dataclasses.MISSING}
        taken, body = [], []
        for field in fields:
            name = field.name
            known[f"_set_{name}"] = getattr(made, name).__set__
            value = name
            if field.default_factory is not dataclasses.MISSING:
                known[f"_make_{name}"] = field.default_factory
                taken.append(f"{name}=_missing")
                value = f"_make_{name}() if {name} is _missing else {name}"
            elif field.default is not dataclasses.MISSING:
                known[f"_default_{name}"] = field.default
                taken.append(f"{name}=_default_{name}")
            else:
                taken.append(name)
            body.append(f"_set_{name}(self, {value})")
        if hasattr(made, "__post_init__"):
            body.append("self.__post_init__()")
        lines = "\n ".join(body or ["pass"])
        exec(f"def __init__(self, {', '.join(taken)}):\n {lines}", known)  # noqa: S102 - as the standard decorator does
        return known["__init__"]

    def _once(self: object, name: str, value: object) -> None:
        """A field can be set while it has no value yet: by what copies, and never again."""
        if hasattr(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def _never(_: object, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _repr(self: object) -> str:
        shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self))
        return f"{type(self).__qualname__}({shown})"


__all__ = ["dataclass"]
