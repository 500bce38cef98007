"""Parts of layers in the plain form of a training log: initialisers, penalties, shapes."""

from __future__ import annotations

from typing import Any

__all__ = ["constraint_of", "initialiser_of", "plain", "regulariser_of", "shape_of"]


def initialiser_of(given: Any) -> dict[str, Any] | None:
    """Return class and scalar settings of an initialiser, or None where there is none."""
    if given is None:
        return None
    settings: dict[str, Any] = {}
    if hasattr(given, "get_config"):
        try:
            settings = dict(given.get_config())
        except Exception:  # noqa: BLE001 - the program's own class may not support it
            settings = {}
    scalars = {
        name: value
        for name, value in settings.items()
        if isinstance(value, int | float | str | bool) or value is None
    }
    name = getattr(given, "__name__", None) or type(given).__name__
    return {"class": str(name), "config": scalars}


def regulariser_of(given: Any) -> dict[str, Any] | None:
    """Return class and strengths of a regulariser, or None where there is none."""
    if given is None:
        return None
    name = getattr(given, "__name__", None) or type(given).__name__
    return {
        "class": str(name),
        "l1": _number(getattr(given, "l1", None)),
        "l2": _number(getattr(given, "l2", None)),
    }


def constraint_of(given: Any) -> str | None:
    """Return the class of a constraint, or None where there is none."""
    return None if given is None else str(getattr(given, "__name__", None) or type(given).__name__)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def plain(value: Any) -> Any:
    """Return a setting as JSON has it; None for what has no such form."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return _number(value) if getattr(value, "shape", None) == () else None


def shape_of(shape: Any) -> Any:
    """Return a shape as a list with None for what is open; of several shapes a list of those."""
    if shape is None:
        return None
    if isinstance(shape, dict):
        return shape_of(list(shape.values()))
    items = list(shape)
    if not items and isinstance(shape, list):
        return None
    if items and all(isinstance(item, list | tuple | dict) for item in items):
        return shape_of(items[0]) if len(items) == 1 else [shape_of(item) for item in items]
    return [None if item is None else int(item) for item in items]
