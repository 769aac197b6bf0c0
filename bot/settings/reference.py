"""The settings as a table, for the documentation."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.settings.fields import model_in, shown
from bot.settings.model import PREFIX, Settings


def table() -> str:
    """Render every setting as a Markdown table: variable, place in the file, default, meaning."""
    rows = ["| Variable | In the file | Default | Meaning |", "|---|---|---|---|"]
    rows += [
        f"| {f'`{variable}`' if variable else ''} | `{place}` | {default} | {meaning} |"
        for variable, place, default, meaning in _rows(Settings, "")
    ]
    return "\n".join(rows)


def _rows(model: type[BaseModel], before: str) -> Iterable[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        place = f"{before}{name}"
        inner = model_in(field.annotation)
        variable = f"{PREFIX}{name.upper()}" if not before else ""
        default = "" if field.is_required() or inner or field.default in {None, "", ()} else f"`{_default(field)}`"
        yield variable, place, default, (field.description or "").replace("|", "\\|")
        if inner:
            several = "[]" if "tuple[" in str(field.annotation) else (".ID" if "dict[" in str(field.annotation) else "")
            yield from _rows(inner, f"{place}{several}.")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    return shown(list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value)
