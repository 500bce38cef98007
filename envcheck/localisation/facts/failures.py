"""Facts about how a script ended: what its exception says, in the terms of the rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envcheck.localisation.graph import PROGRAM

if TYPE_CHECKING:
    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_failure", "failure_of"]

_PATTERNS = (
    ("labelsAgainstOutput", r"Arguments `target` and `output` must have the same (?:rank|shape)"),
    ("labelsAgainstOutput", r"Argument `output` must have rank \(ndim\) `target\.ndim - 1`"),
    ("labelsAgainstOutput", r"[Ll]abels?.{0,60}(?:incompatible|must (?:have|match))"),
    ("labelOutOfRange", r"Received a label value of|SparseSoftmaxCrossEntropyWithLogits"),
    ("idsOutsideEmbedding", r"(?:embedding|GatherV2|indices\[).{0,200}(?:is not in \[0|Gather)"),
    ("windowTooLarge", r"[Cc]omputed output size would be zero or negative|Negative dimension"),
    ("inputAgainstLayer", r"is incompatible with the layer: expected (?P<what>[^\n\x1b]{1,120})"),
    ("cardinality", r"Data cardinality is ambiguous|same number of samples"),
    ("textInput", r"Invalid dtype: (?:object|str\d*)|Unsupported object type|string to float"),
    ("noLoss", r"No loss to compute|must call `compile\(\)`|must compile your model"),
    ("noneOutput", r"None values not supported|NoneType' object has no attribute 'shape'"),
    ("lossAgainstOutput", r"Dimensions must be equal.{0,80}(?:compile_loss|loss/)"),
    ("lossAgainstOutput", r"compile_loss/.{0,80}Broadcast"),
    ("noGradients", r"No gradients provided for any variable"),
    ("outOfMemory", r"OOM when allocating|out of memory|ResourceExhausted"),
)  # fmt: skip
_FRAMES = ("Exception encountered", "Graph execution error")
_LAYER = re.compile(r"layer '?\"?([A-Za-z0-9_/]+)'?\"?")
_RECEIVED = re.compile(r"(?:received input with shape|Full shape received:|found ndim=) ?"
                       r"(?P<shape>\(?[^)\n]{1,60}\)?)")  # fmt: skip


def failure_of(message: str) -> str:
    """Return the kind of a failure by its message, or "unexplained"."""
    for kind, pattern in _PATTERNS:
        if re.search(pattern, message, re.DOTALL):
            return kind
    return "unexplained"


def add_failure(graph: TrainingGraph) -> None:
    """Assert what ended the script, if anything did."""
    program = graph.log.program
    exception = program.get("exception")
    interrupted = program.get("interrupted")
    if not isinstance(exception, dict) or interrupted:
        graph.put(PROGRAM, "ended", "ec:withoutError", "program/exception")
        return
    graph.put(PROGRAM, "ended", "ec:withError", "program/exception")
    message = str(exception.get("message") or "")
    name = str(exception.get("type") or "an exception")
    kind = failure_of(message)
    if name.rpartition(".")[2] in ("MemoryError", "ResourceExhaustedError"):
        kind = "outOfMemory"
    graph.put(PROGRAM, "failure", f"ec:{kind}", "program/exception")
    graph.put_value(PROGRAM, "exceptionType", name, "program/exception/type")
    first = message.strip().splitlines()
    graph.put_value(PROGRAM, "exceptionMessage", _short(first), "program/exception/message")
    _add_details(graph, message)


def _short(lines: list[str]) -> str:
    """Return the line of a message that says most: not the frame Keras puts around it."""
    told = [line for line in lines if line.strip() and not line.startswith(_FRAMES)]
    return re.sub(r"\x1b\[[0-9;]*m", "", (told or lines or [""])[0])[:160]


def _add_details(graph: TrainingGraph, message: str) -> None:
    source = "program/exception/message"
    layer = _LAYER.search(message)
    if layer:
        graph.put_value(PROGRAM, "failingLayer", layer.group(1), source)
    wanted = re.search(r"expected ([^\n\x1b]{1,120}?)(?:, but received|, found|\.|$)", message)
    received = _RECEIVED.search(message)
    if wanted and received:
        graph.put_value(PROGRAM, "wantedShape", wanted.group(1), source)
        graph.put_value(PROGRAM, "receivedShape", received.group("shape"), source)
