"""Read a report that `--format json` wrote, so that it can be told again beside another."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError, SchemaError
from envcheck.findings import (
    BASES,
    CATEGORIES,
    COMPONENTS,
    OUTCOMES,
    REPORT_SCHEMA,
    SEVERITIES,
    STAGES,
    Evidence,
    Finding,
    Fix,
    Location,
    Outcome,
    Report,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["parse_report", "read_report"]

_LIMIT = 256 << 20
"""Largest report that is read, in bytes."""
_STAGE_OF = {"deployment": "environment", "conversion": "conversion"}
"""The stage of a finding by its component; all others belong to training."""
_CLOSED = {
    "severity": SEVERITIES, "basis": BASES, "category": CATEGORIES, "component": COMPONENTS,
}  # fmt: skip
_TEXTS = ("rule", "fault", "title", "detail", "subject")
_LISTS = ("because", "guards", "alternatives", "sources")
_HINT = "write one with: envcheck parity REFERENCE CANDIDATE --format json=FILE"


def read_report(path: str) -> Report:
    """Return the report in a file.

    Raises InputError for what cannot be read or is no report, SchemaError for one of another
    version.
    """
    try:
        if os.path.getsize(path) > _LIMIT:
            raise InputError("is larger than a report can be", place=path, hint=_HINT)
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError as problem:
        raise InputError("is not UTF-8 text", place=path, hint=_HINT) from problem
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror}", place=path) from problem
    return parse_report(text, place=path)


def parse_report(text: str, *, place: str = "report") -> Report:
    """Return the report that a JSON text holds; raises as `read_report` does."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"is no JSON: {problem}", place=place, hint=_HINT) from problem
    if not isinstance(data, dict) or not str(data.get("schema", "")).startswith("envcheck.report/"):
        raise InputError("is no report", place=place, hint=_HINT)
    if data["schema"] != REPORT_SCHEMA:
        problem_text = f"is of schema {data['schema']}, and this version reads {REPORT_SCHEMA}"
        raise SchemaError(problem_text, place=place)
    try:
        return _report(data)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        told = f"is no sound report: {type(problem).__name__}: {problem}"
        raise InputError(told, place=place, hint=_HINT) from problem


def _report(data: Mapping[str, Any]) -> Report:
    checked = tuple(name for name in STAGES if data["stages"][name] != "not_checked")
    stage = checked[0] if len(checked) == 1 else "conversion" if "parity" in data else "environment"
    rules = {name: int(data["rules"][name]) for name in OUTCOMES}
    if min(rules.values()) < 0:
        raise ValueError("a number of rules is negative")
    parity = data.get("parity")
    return Report(
        findings=tuple(_finding(item) for item in data["findings"]),
        undetermined=tuple(_outcome(item, stage) for item in data["undetermined"]),
        rules=rules,
        checked=checked or (stage,),
        inputs={str(side): dict(about) for side, about in data["inputs"].items()},
        notes=_texts(data["notes"]),
        parity=None if parity is None else _parity(parity),
    )


def _finding(data: Mapping[str, Any]) -> Finding:
    for name, choices in _CLOSED.items():
        if data[name] not in choices:
            raise ValueError(f"{name} is {data[name]!r}")
    members: dict[str, Any] = {name: _text(data[name]) for name in (*_TEXTS, *_CLOSED)}
    members |= {name: data[name] for name in ("train", "deploy", "expected", "seen")}
    members |= {name: _texts(data[name]) for name in _LISTS}
    confidence = float(data["confidence"])
    if not 0 <= confidence <= 1:
        raise ValueError(f"confidence is {confidence}")
    return Finding(
        **members,
        rank=int(data["rank"]),
        confidence=confidence,
        fix=Fix(text=_text(data["fix"]["text"]), command=_text(data["fix"]["command"])),
        location=_location(data["location"]),
        related=tuple(_location(item) for item in data["related"]),
        series=tuple(data["series"]),
        evidence=tuple(
            Evidence(fact=_text(item["fact"]), origin=_text(item["from"]), value=item["value"])
            for item in data["evidence"]
        ),
        stage=_STAGE_OF.get(data["component"], "training"),
        explained_by=_text(data["explained_by"] or ""),
        pre_existing=bool(data["pre_existing"]),
        waived=_text(data["waived"] or ""),
    )


def _location(data: Mapping[str, Any]) -> Location:
    words = {name: _optional(data[name], str) for name in ("file", "layer", "tensor")}
    numbers = {name: _optional(data[name], int) for name in ("line", "column", "batch", "epoch")}
    return Location(**words, **numbers)


def _optional(value: Any, kind: type) -> Any:
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise TypeError(f"{value!r} stands where {kind.__name__} belongs")
    return value


def _outcome(data: Mapping[str, Any], stage: str) -> Outcome:
    if data["severity"] not in SEVERITIES:
        raise ValueError(f"severity is {data['severity']!r}")
    names = ("rule", "title", "subject", "severity", "reason")
    return Outcome(**{name: _text(data[name]) for name in names}, stage=stage)


def _parity(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the comparison; raises where what the formats show is missing or of a wrong type."""
    rows, outputs = list(data["layers"]), list(data["outputs"])
    for text in (
        data["verdict"],
        *(output["name"] for output in outputs),
        *(row[name] for row in rows for name in ("layer", "kind")),
    ):
        _text(text)
    sizes = ("natural_error", "local_error", "noise", "ratio")
    for number in (
        *data["coverage"].values(),
        *(output[name] for output in outputs for name in ("error", "noise")),
        *(row[name] for row in rows for name in sizes),
    ):
        _number(number)
    if not all(isinstance(row["fault"], bool) for row in rows):
        raise TypeError("a layer does not say whether it is at fault")
    return dict(data)


def _number(value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise TypeError(f"{value!r} stands where a number belongs")
    if value is not None and not math.isfinite(value):
        raise ValueError("a number is not finite")


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} stands where text belongs")
    return value
