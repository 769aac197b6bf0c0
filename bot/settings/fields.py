"""The fields of the settings: which one stands at a place, and how its values are written."""

from typing import Any, get_args

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.settings.model import Settings


def field_at(place: tuple[str | int, ...]) -> tuple[FieldInfo | None, set[str]]:
    """Give the field at a place, and the names that its model has."""
    model: type[BaseModel] = Settings
    field: FieldInfo | None = None
    for part in place:
        if isinstance(part, int) or part not in model.model_fields:
            continue
        field = model.model_fields[part]
        if inner := model_in(field.annotation):
            model = inner
    return field, set(model.model_fields)


def model_in(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 - any annotation
    """Give the part of the settings that an annotation names, alone or inside a container; None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for each in get_args(annotation) if (model := model_in(each))), None)


def like(field: FieldInfo | None) -> str:
    """Give the end of a sentence that shows a right value; "" where the field has no example."""
    return f"; a right one looks like {shown(field.examples[0])}" if field is not None and field.examples else ""


def shown(value: object) -> str:
    """Write a value as the file would have it, on one line."""
    return (
        yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True).removesuffix("\n...\n").strip()
    )
