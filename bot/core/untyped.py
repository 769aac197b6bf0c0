"""Walking through what is read as the API has it: spec and status of job kinds, configurations."""

from typing import Any


def dig(data: Any, path: str, default: Any = None) -> Any:  # noqa: ANN401 - walks untyped spec and status
    """Walk a dotted path through mappings; `default` when a step is missing or of another type."""
    for step in path.split("."):
        if not isinstance(data, dict) or step not in data:
            return default
        data = data[step]
    return data


def number(value: Any, default: int) -> int:  # noqa: ANN401
    """Give an int field, or the default when it is not an int."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def each(data: Any, path: str) -> list[Any]:  # noqa: ANN401
    """Walk a path in which "name[]" means every list item and "name{}" every map value; give what is there."""
    found = [data]
    for step in path.split("."):
        key = step.removesuffix("[]").removesuffix("{}")
        found = [item[key] for item in found if isinstance(item, dict) and key in item]
        if step.endswith("[]"):
            found = [entry for item in found if isinstance(item, list) for entry in item]
        elif step.endswith("{}"):
            found = [entry for item in found if isinstance(item, dict) for entry in item.values()]
    return found
