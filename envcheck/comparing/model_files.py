"""Every question about a model file and what is to read it, put to both sides."""

from __future__ import annotations

from collections.abc import Callable

from envcheck.comparing.artefacts import Artefact, recorded, shipped_artefacts
from envcheck.comparing.checks import Check, put_check
from envcheck.comparing.estimators import estimator_checks
from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.keras_files import (
    flex_operators,
    keras_layout,
    keras_major,
    tensorflow_release,
)
from envcheck.comparing.onnx_files import (
    contributed_operators,
    onnx_ir,
    onnx_opset,
    quantised_for_vnni,
)
from envcheck.comparing.pickle_files import (
    numpy_core,
    numpy_generator,
    pickle_protocol,
    python_code,
)
from envcheck.comparing.readers import Reader

__all__ = ["add_model_files"]

QUESTIONS: tuple[Callable[[Artefact, Reader], Check | None], ...] = (
    onnx_ir,
    onnx_opset,
    quantised_for_vnni,
    contributed_operators,
    keras_major,
    keras_layout,
    tensorflow_release,
    flex_operators,
    pickle_protocol,
    numpy_core,
    numpy_generator,
    python_code,
)


def add_model_files(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add how each model file stands to the deploy side, and stood to the train side."""
    here = recorded("train", graph.train)
    there = Reader(inventory=deploy, writer=graph.train)
    before = Reader(inventory=train, writer=graph.train)
    for artefact in shipped_artefacts(graph.train, graph.deploy):
        if not artefact.fact.is_ok:
            continue
        original = here.get(artefact.name, artefact)
        earlier = {check.kind: check for check in _answers(original, before)}
        for check in _answers(artefact, there):
            put_check(graph, check, earlier.get(check.kind))


def _answers(artefact: Artefact, reader: Reader) -> list[Check]:
    if not artefact.fact.is_ok:
        return []
    found = [question(artefact, reader) for question in QUESTIONS]
    return [check for check in found if check is not None] + list(
        estimator_checks(artefact, reader)
    )
