"""From JSON to structs, one object at a time, so that one odd field costs that field and one odd object costs that object.

The fast path is msgspec's typed decoding. Only when an object does not fit is it taken apart field by field: `null`
lists count as empty (Go writes nil slices as null), and a value of the wrong type is left out and reported.
"""

from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from bot.core import kinds
from bot.core.objects import STRUCTS, Job, KubeObject
from bot.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Decoded:
    """One object, and the paths of the fields that had to be left out because their value was of the wrong type."""

    object: KubeObject
    odd: tuple[str, ...] = ()


def struct_of(kind: str) -> type[KubeObject]:
    """Give the struct that a kind decodes to."""
    return STRUCTS.get(kind, Job)


@lru_cache(maxsize=128)
def _decoder(kind: str) -> msgspec.json.Decoder[KubeObject]:
    return msgspec.json.Decoder(struct_of(kind))


def decode(raw: bytes | memoryview | msgspec.Raw, kind: str) -> Decoded:
    """Decode one object of a kind. `kind` and `apiVersion` may be missing, as in the items of a list.

    Raises ValueError when it is not a JSON object.
    """
    try:
        return Decoded(_decoder(kind).decode(raw))
    except msgspec.ValidationError:
        pass
    except msgspec.DecodeError as error:
        msg = f"not JSON: {error}"
        raise ValueError(msg) from error
    return convert(msgspec.json.decode(raw), kind)


def convert(data: Any, kind: str) -> Decoded:  # noqa: ANN401 - any JSON or YAML value may come in
    """Build one object of a kind from plain data (YAML, or JSON that did not fit).

    Raises ValueError when it is not a mapping.
    """
    if not isinstance(data, dict):
        msg = f"expected an object of kind {kind}, got {type(data).__name__}"
        raise ValueError(msg)
    odd: list[str] = []
    built = _lenient(data, struct_of(kind), "", odd)
    if not isinstance(built, KubeObject):
        msg = f"expected an object of kind {kind}"
        raise ValueError(msg)
    return Decoded(built, tuple(odd))


def head(data: dict[str, Any]) -> tuple[str, str]:
    """Give (apiVersion, kind) of plain data, "" for what is missing or not text."""
    version, kind = data.get("apiVersion"), data.get("kind")
    return (version if isinstance(version, str) else "", kind if isinstance(kind, str) else "")


def kind_of(data: dict[str, Any]) -> kinds.Kind | None:
    """Give the kind of plain data; None when it is not one that is read here."""
    return kinds.of_object(*head(data))


_DROP: Any = object()


@lru_cache(maxsize=512)
def _hints(struct: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    hints = get_type_hints(struct, include_extras=True)
    return tuple((f.name, f.encode_name, hints[f.name]) for f in msgspec.structs.fields(struct))


def _lenient(value: Any, wanted: Any, path: str, odd: list[str]) -> Any:  # noqa: ANN401
    """Convert field by field; give _DROP, and note the path, for what does not fit."""
    origin = get_origin(wanted)
    if origin in {Union, UnionType}:
        options = [option for option in get_args(wanted) if option is not NoneType]
        if value is None:
            return None if NoneType in get_args(wanted) else _DROP
        if len(options) == 1:
            return _lenient(value, options[0], path, odd)
    elif value is None:
        return _DROP
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        if isinstance(value, dict):
            built = {}
            for name, encoded, hint in _hints(wanted):
                if encoded in value:
                    part = _lenient(value[encoded], hint, f"{path}.{encoded}" if path else encoded, odd)
                    if part is not _DROP:
                        built[name] = part
            return wanted(**built)
    elif origin is tuple and isinstance(value, list):
        item = get_args(wanted)[0]
        parts = [_lenient(entry, item, f"{path}[{index}]", odd) for index, entry in enumerate(value)]
        return tuple(part for part in parts if part is not _DROP)
    elif origin is dict and isinstance(value, dict):
        item = get_args(wanted)[1]
        if item is Any:
            return value
        entries = {
            key: _lenient(entry, item, f"{path}[{key}]", odd) for key, entry in value.items() if isinstance(key, str)
        }
        return {key: entry for key, entry in entries.items() if entry is not _DROP}
    else:
        try:
            return msgspec.convert(value, wanted, strict=True)
        except (msgspec.ValidationError, TypeError):
            bare = get_args(wanted)[0] if origin is Annotated else None
            if bare is not None and isinstance(value, bare):
                return value
    odd.append(path)
    return _DROP
