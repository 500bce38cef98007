"""ONNX models: versions, operators and interfaces, read by seeking past the weights.

Field numbers are those of onnx.proto (onnx 1.23).
"""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.files import Place
from envcheck.artefacts.onnx_external import External
from envcheck.artefacts.onnx_graph import Graph, new_graph, read_function, read_graph
from envcheck.artefacts.onnx_types import INT8_TYPES, KNOWN_DOMAINS
from envcheck.artefacts.protobuf import Field, Message, signed
from envcheck.artefacts.reading import Source, Unreadable, digest_ranges

__all__ = ["METADATA_FIELD", "looks_like_onnx", "read_onnx"]

METADATA_FIELD = 14
"""ModelProto.metadata_props: the one field that the content digest leaves out."""
_HIGHEST_IR = 1000
_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})


def looks_like_onnx(source: Source) -> bool:
    """Return whether the top level of the file is an ONNX model (there is no magic number)."""
    try:
        seen = {}
        for field in Message(source).fields():
            if field.number not in _FIELDS:
                return False
            seen[field.number] = field
    except Unreadable:
        return False
    return 7 in seen and 1 in seen and 0 < seen[1].value < _HIGHEST_IR


def read_onnx(source: Source, place: Place) -> dict[str, Any]:
    """Return the facts of an ONNX model."""
    model = Message(source)
    graph, head = new_graph(), _head()
    skipped = []
    for field in model.fields():
        if field.number == METADATA_FIELD:
            skipped.append((field.record, field.end))
        else:
            _read_field(model, field, head, graph)
    if not head["graphs"]:
        raise Unreadable("holds no graph: it is no ONNX model, or it is cut off")
    if not head["opsets"] and head["ir_version"] >= 3:
        raise Unreadable("names no operator set: it is no ONNX model, or it is cut off")
    digests = dict(zip(("sha256", "content_sha256"), digest_ranges(source, skipped)))
    return {**digests, **_facts(head, graph), **External(place, graph.external).facts()}


def _head() -> dict[str, Any]:
    return {"graphs": 0, "functions": 0, "ir_version": 0, "opsets": {}, "defined": set(),
            "producer": "", "producer_version": ""}  # fmt: skip


def _read_field(model: Message, field: Field, head: dict[str, Any], graph: Graph) -> None:
    """Take one field of ModelProto in."""
    if field.number == 1:
        head["ir_version"] = signed(field.value)
    elif field.number == 2:
        head["producer"] = model.text(field)
    elif field.number == 3:
        head["producer_version"] = model.text(field)
    elif field.number == 7:
        head["graphs"] += 1
        read_graph(model.message(field), graph, top=True)
    elif field.number == 8:
        domain, version = _opset(model.message(field))
        head["opsets"][domain] = max(version, head["opsets"].get(domain, version))
        if len(head["opsets"]) > 1000:
            raise Unreadable("names more than 1000 operator sets")
    elif field.number == 25:
        head["functions"] += 1
        head["defined"].add(read_function(model.message(field), graph))


def _opset(entry: Message) -> tuple[str, int]:
    domain, version = "", 0
    for field in entry.fields():
        if field.number == 1:
            domain = entry.text(field)
        elif field.number == 2:
            version = signed(field.value)
    return ("" if domain == "ai.onnx" else domain), version


def _facts(head: dict[str, Any], graph: Graph) -> dict[str, Any]:
    domains = {domain for domain, _ in graph.operators}
    quantised = sorted(graph.quantised)
    types = sorted(graph.weight_types)
    return {
        "ir_version": head["ir_version"],
        "opsets": dict(sorted(head["opsets"].items())),
        "producer": head["producer"],
        "producer_version": head["producer_version"],
        "quantised": bool(quantised),
        "quantised_ops": quantised,
        "weight_types": types,
        "int8_weight_types": [name for name in types if name in INT8_TYPES],
        "custom_domains": sorted(domains - KNOWN_DOMAINS - head["defined"]),
        "inputs": [item for item in graph.inputs if hash(item["name"]) not in graph.initialised],
        "outputs": graph.outputs,
        "node_count": graph.nodes,
        "ops": graph.operator_names(),
        "functions": head["functions"],
        "holds_code": False,
        "imports": [],
    }
