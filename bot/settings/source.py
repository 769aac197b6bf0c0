"""Where the settings come from: the environment and one YAML file."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_settings.exceptions import SettingsError as SourceError

from bot.settings.errors import ConfigurationError, why_unreadable
from bot.settings.fields import like
from bot.settings.mistakes import meant, sentence
from bot.settings.model import CONFIG_VARIABLE, PREFIX, Settings

SERVICE_LINK = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?$")


def load(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from the environment and from a YAML file.

    Args:
        path: the file; without it the one that WHYPENDING_CONFIG names, if it names one.
        environ: where to look for the file's name and for misspelt variables; the process's own when left out.

    Raises:
        ConfigurationError: something cannot be used; one sentence a line.
    """
    environ = os.environ if environ is None else environ
    if path is None and environ.get(CONFIG_VARIABLE):
        path = Path(environ[CONFIG_VARIABLE])
    data, lines = _file(path) if path else ({}, {})
    known = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
    unknown = sorted(name for name in environ if name.startswith(PREFIX) and _is_mistaken(name, known))
    if unknown:
        raise ConfigurationError("\n".join(f"{name}: no such setting{meant(name, known)}" for name in unknown))
    try:
        return Settings(**data)
    except SourceError as error:
        field = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        msg = f"{PREFIX}{field.upper()}: must be JSON{like(Settings.model_fields.get(field))}"
        raise ConfigurationError(msg) from error
    except ValidationError as error:
        raise ConfigurationError("\n".join(sentence(e, path, data, lines) for e in error.errors())) from error


def _is_mistaken(variable: str, known: set[str]) -> bool:
    """Tell whether a variable is meant for us and unknown; Kubernetes sets some for every Service beside the pod."""
    if variable == CONFIG_VARIABLE or variable.partition("__")[0] in known:
        return False
    return not SERVICE_LINK.search(variable)


def _file(path: Path) -> tuple[dict[str, Any], dict[tuple[str | int, ...], int]]:
    """Read the YAML file; give its content and the line of every place in it."""
    try:
        text = path.read_text()
        data = yaml.safe_load(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {why_unreadable(error)}"
        raise ConfigurationError(msg) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        msg = f"{path}{where}: is not YAML: {getattr(error, 'problem', None) or error}"
        raise ConfigurationError(msg) from error
    if data is None:
        return {}, {}
    if not isinstance(data, dict):
        msg = f"{path} line 1: must be a mapping of settings, like slack_mode: socket"
        raise ConfigurationError(msg)
    return data, dict(_lines(node, ()))


def _lines(node: yaml.Node | None, place: tuple[str | int, ...]) -> Iterable[tuple[tuple[str | int, ...], int]]:
    if node is None:
        return
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, str(key.value)), key.start_mark.line + 1
            for inner, line in _lines(value, (*place, str(key.value))):
                if inner != (*place, str(key.value)):
                    yield inner, line
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _lines(value, (*place, index))
