"""`envcheck.schema()`: the JSON Schemas of what envcheck writes and reads.

Fingerprints are described by the catalogue of fact keys, reports by the dataclasses of
`envcheck.findings` (through pydantic), traces by their index. All are of draft 2020-12.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from envcheck import catalogue, facts, findings
from envcheck.errors import MissingExtra, UsageError
from envcheck.fingerprint.document import ROLES, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NAMES", "schema"]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
NAMES = ("fingerprint", "report", "trace", "training", "config", "waivers")
"""The schemas there are."""

_Schema = dict[str, Any]


def schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema by the name of what it describes, one of `NAMES`.

    Raises UsageError for another name, and MissingExtra where pydantic is not installed.
    """
    from envcheck.configuration.schema import config_schema, waivers_schema
    from envcheck.training_schema import training_schema

    makers: dict[str, Callable[[], _Schema]] = {
        "fingerprint": _fingerprint_schema,
        "report": _report_schema,
        "trace": _trace_schema,
        "training": training_schema,
        "config": config_schema,
        "waivers": waivers_schema,
    }
    if name not in makers:
        raise UsageError(f"no schema {name!r}", hint=f"the schemas are {', '.join(NAMES)}")
    return {"$schema": DRAFT, **makers[name]()}


def _fingerprint_schema() -> _Schema:
    exact = {key: _fact_schema(kind) for key, kind in catalogue.KEYS.items() if key[-1] != "*"}
    families = {
        f"^{re.escape(key[:-1])}": _fact_schema(kind)
        for key, kind in catalogue.KEYS.items()
        if key[-1] == "*"
    }
    return {
        "$id": SCHEMA,
        "title": "Fingerprint",
        "description": "The facts of one environment. Unknown further keys are allowed.",
        "type": "object",
        "required": ["schema", "facts"],
        "properties": {
            "schema": {"type": "string", "pattern": f"^{re.escape(SCHEMA)}(\\.[0-9]+)*$"},
            "envelope": _envelope_schema(),
            "facts": {
                "type": "object",
                "propertyNames": {"pattern": r"^[^\u0000-\u001f\u007f]*\.[^\u0000-\u001f\u007f]*$"},
                "properties": exact,
                "patternProperties": families,
                "additionalProperties": {"$ref": "#/$defs/fact"},
            },
        },
        "$defs": {"fact": _plain_fact_schema()},
    }


def _envelope_schema() -> _Schema:
    text = {"type": "string"}
    role = {"enum": [*ROLES, ""], "description": "which side of a comparison it is meant for"}
    return {
        "type": "object",
        "description": "When, by what and for which role it was made; no part of the digest.",
        "properties": {"created": text, "tool": text, "role": role},
    }


def _plain_fact_schema() -> _Schema:
    return {
        "type": "object",
        "required": ["state"],
        "properties": {
            "state": {"enum": list(facts.STATES)},
            "reason": {"type": "string", "description": "why the value is not known"},
            "source": {"type": "string", "description": "where the value came from"},
        },
        "if": {"properties": {"state": {"const": facts.OK}}},
        "then": {"required": ["value"]},
    }


def _fact_schema(key: facts.Key) -> _Schema:
    value = _value_schema(key.type, key.fields)
    meaning = f"{key.doc} [{key.unit}]" if key.unit else key.doc
    return {
        "description": meaning,
        "$ref": "#/$defs/fact",
        "if": {"properties": {"state": {"const": facts.OK}}},
        "then": {"properties": {"value": value}},
    }


def _value_schema(kind: Any, fields: Any = None) -> _Schema:
    """Return the schema of a declared type: a word, a dict of fields, or a list of one."""
    if isinstance(kind, dict):
        return _value_schema("object", kind)
    if isinstance(kind, list):
        return _value_schema("list[object]", kind[0])
    if kind.startswith("list["):
        return {"type": "array", "items": _value_schema(kind[5:-1], fields)}
    if kind != "object":
        return {"type": kind}
    members = {
        name: {**_value_schema(inner), "description": doc}
        for name, (inner, doc) in (fields or {}).items()
    }
    return {"type": "object", "properties": members}


def _report_schema() -> _Schema:
    finding = _dataclass_schema(findings.Finding)
    finding["properties"]["doc"] = {"type": "string", "description": "the command that explains"}
    for name in ("explained_by", "waived"):
        finding["properties"][name] = {"type": ["string", "null"]}
    _choose(finding, severity=findings.SEVERITIES, basis=findings.BASES)
    _choose(finding, category=findings.CATEGORIES, component=findings.COMPONENTS)
    finding["properties"]["confidence"].update(minimum=0, maximum=1)
    evidence = finding["$defs"]["Evidence"]
    evidence["properties"]["from"] = evidence["properties"].pop("origin")
    outcome = _dataclass_schema(findings.Outcome)
    _choose(outcome, severity=findings.SEVERITIES)
    shared = {**finding.pop("$defs"), "Finding": finding, "Outcome": outcome}
    for part in shared.values():
        part["required"] = sorted(part["properties"])
        part["additionalProperties"] = True
    return {"$id": findings.REPORT_SCHEMA, **_report_frame(), "$defs": shared}


def _report_frame() -> _Schema:
    states = {"enum": ["error", "warning", "pass", "not_checked"]}
    count = {"type": "integer", "minimum": 0}
    counted = (*findings.SEVERITIES, "undetermined", "waived", "rules_checked")
    members: _Schema = {
        "schema": {"const": findings.REPORT_SCHEMA},
        "verdict": {"enum": list(findings.VERDICTS)},
        "stages": _closed_object(dict.fromkeys(findings.STAGES, states)),
        "counts": _closed_object(dict.fromkeys(counted, count)),
        "rules": _closed_object(dict.fromkeys(findings.OUTCOMES, count)),
        "inputs": {"type": "object", "additionalProperties": {"type": "object"}},
        "notes": {"type": "array", "items": {"type": "string"}},
        "findings": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
        "undetermined": {"type": "array", "items": {"$ref": "#/$defs/Outcome"}},
    }
    return {
        "title": "Report",
        "description": "Everything that one run of envcheck has to say.",
        "type": "object",
        "required": list(members),
        "properties": {**members, "parity": _parity_schema()},
    }


def _parity_schema() -> _Schema:
    number = {"type": ["number", "null"]}
    count = {"type": "integer", "minimum": 0}
    kinds = ("match", "noise", "absorbed", "precision", "mismatch", "interface", "convert-fail",
             "load-fail", "run-fail", "inconclusive")  # fmt: skip
    texts = {"type": "array", "items": {"type": "string"}}
    fault = {"layers": texts, "tensors": texts, "kind": {"type": "string"}, "local_error": number,
             "noise": number, "evidence": texts}  # fmt: skip
    layer = {"layer": {"type": "string"}, "kind": {"type": "string"}, "local_error": number}
    inputs = {"sha256": {"type": ["string", "null"]}, "origin": {"enum": ["given", "invented"]}}
    members = {
        "verdict": {"enum": list(kinds)},
        "coverage": {"type": "object", "additionalProperties": count},
        "faults": {"type": "array", "items": _closed_object(fault)},
        "outputs": {"type": "array", "items": {"type": "object", "required": ["name", "error"]}},
        "layers": {"type": "array", "items": _closed_object(layer)},
        "inputs": _closed_object(inputs),
    }
    return {**_closed_object(members), "description": "Two models compared, layer by layer."}


def _trace_schema() -> _Schema:
    """Return the schema of `index.json` in a trace; the arrays lie beside it: `arrays/KEY.npy`."""
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    port = {"type": "array", "prefixItems": [{"type": "integer", "minimum": -1}, count],
            "minItems": 2, "maxItems": 2}  # fmt: skip
    entry = {
        "key": {"type": ["string", "null"], "pattern": "^[0-9]+$",
                "description": "the array's file, or null where it is text and not stored"},
        "order": {**count, "description": "the place in the order of execution"},
        "name": text,
        "op": {**text, "description": "the class of the layer, or the operator"},
        "shape": {"type": "array", "items": count},
        "dtype": text,
    }  # fmt: skip
    more = {
        "kind": {"enum": ["input", "call", "tensor"]},
        "layer": {**text, "description": "the path of the layer: outer/inner"},
        "call": {"type": "integer", "minimum": -1, "description": "-1: an input of the model"},
        "index": {**count, "description": "which output of the call, or which input"},
        "number": {**count, "description": "which call of a shared layer"},
        "reads": {"type": "array", "items": port, "description": "call and index of each input"},
        "output": {"type": ["integer", "null"], "minimum": 0},
        "weighted": {"type": "boolean"},
        "node": text,
    }
    members = {
        "schema": {"const": "envcheck.trace/1"},
        "entries": {
            "type": "array",
            "items": {**_closed_object(entry), "properties": entry | more},
        },
        "runtime": {"type": "object", "description": "what ran the model, and its version"},
        "environment": {"type": "object", "description": "facts that outputs depend on"},
    }
    about = dict.fromkeys(("created", "tool", "model", "inputs_sha256"), text)
    made = {**_closed_object(members), "properties": members | about}
    return {"$id": "envcheck.trace/1", "title": "Trace index",
            "description": "All layer outputs of one model under one runtime.", **made}  # fmt: skip


def _closed_object(members: _Schema) -> _Schema:
    return {"type": "object", "properties": members, "required": list(members)}


def _dataclass_schema(kind: type) -> _Schema:
    try:
        from pydantic import TypeAdapter
    except ImportError as problem:
        raise MissingExtra("pydantic", "", "the schema of reports") from problem
    made: _Schema = TypeAdapter(kind).json_schema(mode="serialization")
    if dataclasses.is_dataclass(kind) and hasattr(kind, "to_json"):
        written = _members_written(kind)
        for name in set(made["properties"]) - written:
            del made["properties"][name]
    return made


def _members_written(kind: Any) -> set[str]:
    """Return the members that `to_json` writes; the others serve envcheck itself."""
    needed: dict[str, Any] = {
        field.name: ""
        for field in dataclasses.fields(kind)
        if field.default is field.default_factory is dataclasses.MISSING
    }
    if "fix" in needed:
        needed["fix"] = findings.Fix(text="")
    return set(kind(**needed).to_json())


def _choose(part: _Schema, **choices: tuple[str, ...]) -> None:
    for name, words in choices.items():
        part["properties"][name] = {"enum": list(words)}
