"""The JSON Schema of a training log, `envcheck.training/1`.

It names what readers rely on and allows further members, so that a later version can add some.
NaN and infinities are the words "NaN", "Infinity" and "-Infinity"; what is not known is null.
"""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMA", "training_schema"]

SCHEMA = "envcheck.training/1"
_Schema = dict[str, Any]

_COUNT: _Schema = {"type": ["integer", "null"], "minimum": 0}
_TEXT: _Schema = {"type": ["string", "null"]}
_FLAG: _Schema = {"type": ["boolean", "null"]}
_NUMBER: _Schema = {"$ref": "#/$defs/number"}
_NUMBERS: _Schema = {"type": "array", "items": _NUMBER}
_SITE: _Schema = {"$ref": "#/$defs/site"}
_SITES: _Schema = {"type": "object", "additionalProperties": _SITE}


def training_schema() -> _Schema:
    """Return the schema of a training log."""
    members = {
        "schema": {"type": "string", "pattern": r"^envcheck\.training/1(\.[0-9]+)*$"},
        "envelope": _object({"created": _TEXT, "tool": _TEXT, "origin": _TEXT}),
        "recorded": {"type": "boolean", "description": "whether any training was seen"},
        "reason": {**_TEXT, "description": "why nothing was seen"},
        "program": _program(),
        "fingerprint": {"type": ["object", "null"], "description": "of the environment"},
        "models": {"type": "array", "items": _model()},
        "fits": {"type": "array", "items": _fit()},
    }
    return {
        "$id": SCHEMA,
        "title": "Training log",
        "description": "What one run of a training script left behind.",
        **_object(members, "schema", "recorded", "program", "models", "fits"),
        "$defs": {"number": _number(), "site": _site()},
    }


def _object(members: _Schema, *required: str) -> _Schema:
    return {"type": "object", "properties": members, "required": list(required)}


def _number() -> _Schema:
    return {
        "anyOf": [{"type": ["number", "null"]}, {"enum": ["NaN", "Infinity", "-Infinity"]}],
        "description": "null where it was not measured",
    }


def _site() -> _Schema:
    place = _object(
        {
            "file": {"type": "string", "description": "relative to the starting folder"},
            "line": {"type": "integer", "minimum": 1},
            "column": {"type": ["integer", "null"], "minimum": 1},
            "text": _TEXT,
            "default": {"type": "boolean", "description": "the argument is not written there"},
        },
        "file",
        "line",
    )
    return {"anyOf": [place, {"type": "null"}]}


def _program() -> _Schema:
    exception = _object(
        {"type": _TEXT, "message": _TEXT, "site": _SITE, "chain": {"type": "array"}}, "type"
    )
    return _object(
        {
            "script": _TEXT,
            "exit_code": {"type": ["integer", "null"]},
            "seconds": _NUMBER,
            "exception": {"anyOf": [exception, {"type": "null"}]},
            "interrupted": {"enum": ["ctrl-c", "time-limit", "killed", None]},
            "keras": _TEXT,
            "backend": _TEXT,
        }
    )


def _model() -> _Schema:
    layer = _object(
        {
            "path": {"type": "string", "description": "outer/inner, unique in the model"},
            "name": _TEXT,
            "class": _TEXT,
            "inputs": {"type": ["array", "null"], "items": {"type": "string"}},
            "output_shape": {"type": ["array", "null"]},
            "units": _COUNT,
            "activation": _TEXT,
            "trainable": _FLAG,
            "parameters": _COUNT,
            "site": _SITE,
            "arguments": _SITES,
        },
        "path",
    )
    return _object(
        {
            "id": {"type": "string"},
            "name": _TEXT,
            "kind": {"enum": ["sequential", "functional", "subclassed"]},
            "parameters": _COUNT,
            "graph_known": {"type": "boolean", "description": "whether the wiring is known"},
            "layers": {"type": "array", "items": layer},
            "outputs": {"type": "array"},
            "site": _SITE,
        },
        "id",
        "layers",
    )


def _fit() -> _Schema:
    curves = _object(
        {
            "batch": _object({"step": _NUMBERS, "epoch": _NUMBERS, "loss": _NUMBERS}),
            "epoch": {"type": "object", "additionalProperties": _NUMBERS},
        }
    )
    probe = _object(
        {
            "step": {"type": "integer", "minimum": 0, "description": "weights before this step"},
            "epoch": _COUNT,
            "batch": _COUNT,
            "loss": _NUMBER,
            "layers": {"type": "array"},
            "weights": {"type": "array"},
        },
        "step",
    )
    return _object(
        {
            "id": {"type": "string"},
            "model": _TEXT,
            "method": {"enum": ["fit", "train_on_batch"]},
            "site": _SITE,
            "arguments": _SITES,
            "losses": {"type": "array"},
            "optimiser": {"type": ["object", "null"]},
            "epochs_run": _COUNT,
            "steps": _COUNT,
            "data": {"type": ["object", "null"]},
            "null_loss": {"type": "array"},
            "curves": curves,
            "probes": {"type": "array", "items": probe},
            "statistics": {"type": "object", "description": "eight statistics of each trace"},
        },
        "id",
    )
