"""TensorFlow SavedModel folders: what saved_model.pb and the files beside it say.

Field numbers are those of saved_model.proto, meta_graph.proto and graph.proto of TensorFlow 2.
"""

from __future__ import annotations

import hashlib
from typing import Any

from envcheck.artefacts.bounded_json import parse
from envcheck.artefacts.files import Place
from envcheck.artefacts.keras_config import Model, read_config
from envcheck.artefacts.meta_graph import MetaGraph, read_meta_graph
from envcheck.artefacts.protobuf import Message, signed
from envcheck.artefacts.reading import Unreadable

__all__ = ["EMBEDDED", "is_saved_model", "read_saved_model"]

EMBEDDED = "assets.extra/envcheck"
"""Files below this name are envcheck's own; the content digest leaves them out."""
_GRAPH = "saved_model.pb"
_METADATA = "keras_metadata.pb"
_INDEX = "variables/variables.index"
_LARGEST_METADATA = 8 << 20
_MOST_GRAPHS = 100
_MOST_ASSETS = 1_000
_FILE_OPERATORS = {"ReadFile", "WriteFile", "MatchingFiles", "PyFunc", "EagerPyFunc",
                   "PyFuncStateless"}  # fmt: skip


def is_saved_model(place: Place) -> bool:
    """Return whether a folder is a SavedModel."""
    return place.child(_GRAPH).is_file()


def read_saved_model(place: Place) -> dict[str, Any]:
    """Return the facts of a SavedModel folder."""
    names = list(place.files())
    graphs = _graphs(place)
    assets = [name[len("assets/") :] for name in names if name.startswith("assets/")]
    operators = sorted(set().union(*(graph.operators for graph in graphs)))
    code = _keras_metadata(place) if _METADATA in names else Model()
    return {
        **_digests(place, names),
        **graphs[0].versions(),
        "tags": sorted(set().union(*(graph.tags for graph in graphs))),
        "signatures": graphs[0].signatures,
        "ops": operators,
        "dangerous": sorted(_FILE_OPERATORS.intersection(operators)),
        "meta_graphs": len(graphs),
        "keras_metadata": _METADATA in names,
        "assets": assets[:_MOST_ASSETS],
        "missing_files": _missing(names),
        "custom_objects": sorted(code.custom),
        "holds_code": code.code,
        "imports": ["tensorflow"],
    }


def _graphs(place: Place) -> list[MetaGraph]:
    graphs = []
    with place.child(_GRAPH).open() as source:
        message = Message(source)
        for field in message.fields():
            if field.number == 1 and signed(field.value) != 1:
                raise Unreadable(f"has SavedModel schema version {signed(field.value)}, not 1")
            if field.number == 2:
                graphs.append(read_meta_graph(message.message(field)))
            if len(graphs) > _MOST_GRAPHS:
                raise Unreadable(f"holds more than {_MOST_GRAPHS} graphs")
    if not graphs:
        raise Unreadable(f"its {_GRAPH} holds no graph: it is cut off, or of another kind")
    return graphs


def _keras_metadata(place: Place) -> Model:
    """Return what Keras 2 wrote about the layers, among it the code of Lambda layers."""
    configs = []
    with place.child(_METADATA).open() as source:
        if source.size > _LARGEST_METADATA:
            raise Unreadable(f"its {_METADATA} is larger than {_LARGEST_METADATA} bytes")
        message = Message(source)
        for field in message.fields():
            if field.number != 1:
                continue
            node = message.message(field)
            for entry in node.fields():
                if entry.number == 5 and entry.wire == 2:
                    text = source.exactly(entry.start, entry.end - entry.start)
                    configs.append(parse(text, f"its {_METADATA}"))
    return read_config(configs)


def _missing(names: list[str]) -> list[str]:
    """Return the shards of the variables that should be beside those that are there."""
    present = set(names)
    shards = [name for name in names if name.startswith("variables/variables.data-")]
    wanted = {_INDEX} if shards else set()
    for name in shards[:1]:
        total = name.rpartition("-of-")[2]
        if total.isdigit() and 0 < int(total[:6]) < 100_000:
            head = "variables/variables.data-"
            wanted.update(f"{head}{shard:05d}-of-{total}" for shard in range(int(total[:6])))
    if not shards and _INDEX in present:
        wanted.add("variables/variables.data-00000-of-00001")
    return sorted(wanted - present)[:_MOST_ASSETS]


def _digests(place: Place, names: list[str]) -> dict[str, Any]:
    """Return digests over the sorted relative names and the contents, and the size."""
    whole, rest, total = hashlib.sha256(), hashlib.sha256(), 0
    for name in names:
        try:
            source = place.child(name).open()
        except Unreadable as problem:
            raise Unreadable(f"its {name} {problem}") from problem
        with source:
            digest = hashlib.sha256()
            for data in source.chunks(0, source.size):
                digest.update(data)
            total += source.size
        record = name.encode("utf-8", "surrogatepass") + b"\0" + digest.digest()
        whole.update(record)
        if not name.startswith(EMBEDDED):
            rest.update(record)
    return {"sha256": whole.hexdigest(), "content_sha256": rest.hexdigest(), "bytes": total}
