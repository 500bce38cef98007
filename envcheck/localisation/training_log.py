"""Read a training log, `envcheck.training/1`: what one run of a training script left behind."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError, SchemaError
from envcheck.training_schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SCHEMA", "TrainingLog", "number", "numbers", "parse_log", "read_log"]

_LIMIT = 256 << 20
"""Largest log that is read, in bytes."""
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_HINT = "write one with: envcheck localise --record FILE train.py"


@dataclass(frozen=True)
class TrainingLog:
    """One training log; `data` is the JSON document with NaN and infinities as floats."""

    data: Mapping[str, Any]
    place: str = ""

    @property
    def recorded(self) -> bool:
        """Whether any training was seen."""
        return bool(self.data.get("recorded"))

    @property
    def program(self) -> Mapping[str, Any]:
        """What is known of the script and how it ended."""
        return self.data.get("program") or {}

    @property
    def models(self) -> Sequence[Mapping[str, Any]]:
        """The models in the order in which they were met."""
        return self.data.get("models") or ()

    @property
    def fits(self) -> Sequence[Mapping[str, Any]]:
        """The fits in the order in which they began."""
        return self.data.get("fits") or ()

    def model(self, identifier: str | None) -> Mapping[str, Any] | None:
        """Return a model by its id, or None."""
        return next((item for item in self.models if item.get("id") == identifier), None)

    def layer(self, model: str, path: str) -> Mapping[str, Any] | None:
        """Return a layer of a model by its path, or None."""
        layers = (self.model(model) or {}).get("layers") or ()
        return next((item for item in layers if item.get("path") == path), None)

    def fit(self, identifier: str) -> Mapping[str, Any] | None:
        """Return a fit by its id, or None."""
        return next((item for item in self.fits if item.get("id") == identifier), None)

    def at(self, pointer: str) -> Any:
        """Return what stands at a JSON pointer without its leading slash, or None."""
        value: Any = self.data
        for step in pointer.split("/") if pointer else ():
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value


def number(value: Any) -> float | None:
    """Return a finite number as a float, and None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def numbers(values: Any) -> list[float]:
    """Return the finite numbers of a list."""
    found = (number(value) for value in values or ())
    return [value for value in found if value is not None]


def read_log(path: str | os.PathLike[str]) -> TrainingLog:
    """Return the training log of a file.

    Raises InputError for what cannot be read or is no training log, SchemaError for one of
    another version.
    """
    place = os.fspath(path)
    try:
        if os.path.getsize(place) > _LIMIT:
            raise InputError("is larger than a training log can be", place=place, hint=_HINT)
        with open(place, encoding="utf-8") as stream:
            text = stream.read()
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", place=place, hint=_HINT) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=place) from error
    return parse_log(text, place=place)


def parse_log(text: str, *, place: str = "training log") -> TrainingLog:
    """Return the training log that a JSON text holds; raises as `read_log` does."""
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise InputError("is nested too deeply", place=place) from error
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", place=place, hint=_HINT) from error
    if not isinstance(data, dict) or "schema" not in data:
        raise InputError("is no training log", place=place, hint=_HINT)
    schema = data["schema"]
    if schema != SCHEMA and not str(schema).startswith(SCHEMA + "."):
        raise SchemaError(f"is of schema {schema!r}", place=place, hint=f"this reads {SCHEMA}")
    _check(data, place)
    return TrainingLog(_revived(data), place)


def _check(data: dict[str, Any], place: str) -> None:
    """Refuse a document whose parts are not what they are called."""
    shapes = (("program", dict, "object"), ("models", list, "list"), ("fits", list, "list"))
    for name, kind, word in shapes:
        if data.get(name) is not None and not isinstance(data[name], kind):
            raise InputError(f"{name!r} is no {word}", place=place, hint=_HINT)
    for name in ("models", "fits"):
        for index, item in enumerate(data.get(name) or ()):
            if not isinstance(item, dict) or not isinstance(item.get("id"), str):
                raise InputError(f"{name}/{index} has no id", place=place, hint=_HINT)
    layers = (
        (f"models/{number}/layers/{index}", layer)
        for number, model in enumerate(data.get("models") or ())
        for index, layer in enumerate(model.get("layers") or ())
    )
    for pointer, layer in layers:
        if not isinstance(layer, dict) or not isinstance(layer.get("path"), str):
            raise InputError(f"{pointer} has no path", place=place, hint=_HINT)


def _revived(value: Any) -> Any:
    """Return a JSON value with the words for NaN and infinity as floats."""
    if isinstance(value, dict):
        return {key: item if key in _TEXTS else _revived(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_revived(item) for item in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value


_TEXTS = frozenset({"name", "path", "message", "text", "file", "class"})
"""Members that are text whatever they say: a layer may be called NaN."""
