"""The sentence about a mistake in the settings: where it is, what is wrong, what a right value looks like."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bot.settings.fields import field_at, like
from bot.settings.model import PREFIX


def sentence(
    error: Any,  # noqa: ANN401 - pydantic's ErrorDetails
    path: Path | None,
    data: Mapping[str, Any],
    lines: Mapping[tuple[str | int, ...], int],
) -> str:
    """Say one mistake: where it is, what is wrong, what a right value looks like."""
    place: tuple[str | int, ...] = tuple(error["loc"])
    field, fields = field_at(place)
    in_file = (
        path is not None and bool(place) and place[0] in data and f"{PREFIX}{str(place[0]).upper()}" not in os.environ
    )
    dotted = ".".join(str(part) for part in place)
    if in_file:
        line = next((lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in lines), 1)
        where = f"{path} line {line}: {dotted}"
    else:
        where = f"{PREFIX}{'__'.join(str(part) for part in place).upper()}" if place else "settings"
    if error["type"] == "extra_forbidden":
        return f"{where}: no such setting{meant(str(place[-1]), fields)}"
    what = str(error["msg"]).removeprefix("Value error, ")
    if not place:
        return _located(what, path, lines)
    what = what[:1].lower() + what[1:]
    secret = field is not None and "SecretStr" in str(field.annotation)
    got = (
        ""
        if secret or error["type"] == "missing" or isinstance(error["input"], dict | list)
        else f", not {error['input']!r}"
    )
    return f"{where}: {what}{got}{like(field)}"


def _located(what: str, path: Path | None, lines: Mapping[tuple[str | int, ...], int]) -> str:
    """Add the line to a sentence about several settings together, which begins with its place."""
    dotted = what.partition(": ")[0]
    place = tuple(int(part) if part.isdigit() else part for part in dotted.split("."))
    line = next((lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in lines), None)
    return what if path is None or line is None else f"{path} line {line}: {what}"


def meant(name: str, known: Iterable[str]) -> str:
    """Give the end of a sentence that asks whether a close name was meant; "" when none is close."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
