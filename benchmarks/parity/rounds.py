"""Rounds of comparisons with planted faults, and their score."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.parity.mutants import plant, plant_in_graph
from benchmarks.parity.zoo import build
from envcheck.conversion.conversion_child import _Job, trace
from envcheck.conversion.faults import faults_of
from envcheck.conversion.inputs import specs_of
from envcheck.conversion.inventing import invent
from envcheck.conversion.investigation import Investigation, investigate
from envcheck.conversion.naming import layer_in
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Score", "compare", "convert_here", "graph_round", "keras_round", "renamed"]

VISIBLE = 1e-5
"""A planted fault that moves no output by this much, and is not reported, is left out."""


def convert_here(model: Any, path: str) -> tuple[str, ...]:
    """Convert in this process, as the converter's own process does; return the input names."""
    specs, form = specs_of(model)
    described = [{"name": s.name, "shape": list(s.shape), "dtype": s.dtype} for s in specs]

    class Job(_Job):
        def _function(self) -> tuple[Any, list[str]]:
            return trace(model, described, form)

    result = Job({"output": path, "opset": 15}).run()
    if not result["ok"]:
        raise RuntimeError(result["errors"][:1])
    return tuple(result["names"])


def compare(model: Any, path: str, names: Iterable[str] = ()) -> Investigation:
    """Compare a model with a file on invented inputs."""
    specs, form = specs_of(model)
    candidate = open_file(path, Settings(threads=1))
    return investigate(model, candidate, invent(model, specs, form), names=tuple(names))


def renamed(path: str, target: str) -> None:
    """Copy an ONNX file with every node and inner tensor replaced by a number."""
    import onnx

    model = onnx.load(path)
    graph = model.graph
    kept = {item.name for item in (*graph.input, *graph.output)}
    names: dict[str, str] = {}

    def fresh(name: str) -> str:
        return name if not name or name in kept else names.setdefault(name, str(len(names)))

    def walk(inner: Any) -> None:
        for node in inner.node:
            node.name = ""
            node.input[:] = [fresh(name) for name in node.input]
            node.output[:] = [fresh(name) for name in node.output]
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    walk(attribute.g)
        for item in (*inner.initializer, *inner.input, *inner.output):
            item.name = fresh(item.name)
        del inner.value_info[:]

    walk(graph)
    onnx.save(model, target)


@dataclass(kw_only=True)
class Score:
    """How a round went. `hits` count mutants whose first reported group holds a truth."""

    total: int = 0
    hits: int = 0
    all_named: int = 0
    silent: int = 0
    unseen: int = 0
    runs: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    reported: list[int] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def add(self, found: Investigation, truths: list[str], label: str) -> None:
        """Count one comparison."""
        worst = max((output.error for output in found.outputs), default=float("inf"))
        faults = faults_of(found)
        groups = [[name.partition(" (call")[0] for name in fault.layers] for fault in faults]
        if not groups and found.failing_layer:
            groups = [[found.failing_layer]]
        if not groups and worst < VISIBLE:
            self.unseen += 1
            return
        self.total += 1
        hit = bool(groups) and any(_covers(groups[0], truth) for truth in truths)
        self.hits += hit
        self.all_named += all(any(_covers(g, truth) for g in groups) for truth in truths)
        self.silent += not groups
        self.runs.append(found.comparison.runs if found.comparison else 0)
        self.sizes.append(len(set(groups[0])) if groups else 0)
        self.reported.append(len(groups))
        if not hit:
            self.misses.append(f"{label}: {truths} reported as {groups} ({found.verdict})")

    def __str__(self) -> str:
        if not self.total:
            return "nothing was comparable"
        return (
            f"{self.hits} of {self.total} first culprits right ({100 * self.hits / self.total:.1f}"
            f" %), all faults named in {self.all_named}, silent {self.silent}, median"
            f" {statistics.median(self.runs):g} runs, mean group {statistics.mean(self.sizes):.2f},"
            f" {statistics.mean(self.reported):.2f} faults reported each; {self.unseen} that"
            " nothing shows left out"
        )


def _covers(group: list[str], truth: str) -> bool:
    return any(
        name == truth or name.startswith(f"{truth}/") or truth.startswith(f"{name}/")
        for name in group
    )


def keras_round(names: Iterable[str], seeds: Iterable[int], *, count: int = 1) -> Score:
    """Plant faults in Keras models, convert these, and compare with the originals."""
    score, seeds = Score(), list(seeds)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "mutant.onnx"))
        for name in names:
            for seed in seeds:
                model = build(name)
                planted = plant(model, seed, count=count)
                if not planted:
                    continue
                inputs = convert_here(planted[-1].model, path)
                found = compare(model, path, inputs)
                kinds = "+".join(fault.kind for fault in planted)
                score.add(found, [fault.layer for fault in planted], f"{name} {seed} {kinds}")
                found.close()
    return score


def graph_round(names: Iterable[str], seeds: Iterable[int]) -> Score:
    """Plant faults in ONNX files; the truth is the layer in whose scope the edited node lies.

    Nodes whose names point to no layer (folded weights, expanded operators) are left out.
    """
    score, seeds = Score(), list(seeds)
    with tempfile.TemporaryDirectory() as folder:
        clean, path = str(Path(folder, "clean.onnx")), str(Path(folder, "mutant.onnx"))
        for name in names:
            model = build(name)
            inputs = convert_here(model, clean)
            for seed in seeds:
                planted = plant_in_graph(clean, path, seed)
                if planted is None:
                    continue
                found = compare(model, path, inputs)
                truth = _owner(found, path, planted[1])
                if truth:
                    score.add(found, [truth], f"{name} {seed} {planted[0]}")
                found.close()
    return score


def _owner(found: Investigation, path: str, node: str) -> str:
    import onnx

    graph = onnx.load(path).graph
    names = [name for item in graph.node for name in (item.name, *item.output)]
    paths = [call.path for call in found.recording.calls] if found.recording else []
    first, _, second = node.partition("|")
    return layer_in(second, paths, names) or layer_in(first, paths, names)
