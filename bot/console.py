"""What the commands share: their errors, the files they are given, and what the terminal can show."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO


class WrongUseError(Exception):
    """The command cannot be carried out as it was written; the message says what was wrong and shows a right one."""


class NoAnswerError(Exception):
    """The command was right and could not be carried out; the message says why."""


def contents(files: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Give (name, content) of files; "-" is standard input. Raises WrongUseError for one that cannot be read."""
    for name in files:
        try:
            yield name, sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        except OSError as error:
            msg = f"cannot read {name}: {error.strerror or error}"
            raise WrongUseError(msg) from error


def look(stream: TextIO) -> tuple[int | None, bool]:
    """Give the terminal's width, None when there is no terminal, and whether it may be coloured (no-color.org)."""
    if not stream.isatty():
        return None, False
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return shutil.get_terminal_size().columns, not plain
