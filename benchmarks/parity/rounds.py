"""Rounds of comparisons with planted faults, and their score."""

from __future__ import annotations

import math
import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.parity.mutants import Planted, plant, plant_in_graph
from benchmarks.parity.zoo import build
from envcheck.conversion.arrays import plain, relative_error
from envcheck.conversion.conversion_child import _Job, trace
from envcheck.conversion.faults import faults_of
from envcheck.conversion.inputs import specs_of
from envcheck.conversion.inventing import invent
from envcheck.conversion.investigation import Investigation, investigate
from envcheck.conversion.naming import layer_in
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    """How a round went. `hits` count mutants whose first reported group holds a truth.

    `all_named` counts mutants of which every fault is named that moves an output by itself,
    `strictly` those of which every fault is; `hidden` counts the faults that move none.
    """

    total: int = 0
    hits: int = 0
    all_named: int = 0
    strictly: int = 0
    hidden: int = 0
    silent: int = 0
    unseen: int = 0
    runs: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    reported: list[int] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)
    """Mutants of several faults with the first one right and another not named."""

    def add(
        self, found: Investigation, truths: list[str], label: str, hidden: Sequence[str] = ()
    ) -> None:
        """Count one comparison. Of the truths, those `hidden` move no output by themselves."""
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
        unnamed = [truth for truth in truths if not any(_covers(g, truth) for g in groups)]
        self.strictly += not unnamed
        unnamed = [truth for truth in unnamed if truth not in hidden]
        self.hidden += len(hidden)
        self.all_named += not unnamed
        self.silent += not groups
        self.runs.append(found.comparison.runs if found.comparison else 0)
        self.sizes.append(len(set(groups[0])) if groups else 0)
        self.reported.append(len(groups))
        if not hit:
            self.misses.append(f"{label}: {truths} reported as {groups} ({found.verdict})")
        elif unnamed:
            self.partly.append(f"{label}: {unnamed} not among {groups} ({found.verdict})")

    def __str__(self) -> str:
        if not self.total:
            return "nothing was comparable"
        return (
            f"{self.hits} of {self.total} first culprits right ({_share(self.hits, self.total)}),"
            f" all faults named in {self.all_named} ({_share(self.all_named, self.total)}), silent"
            f" {self.silent}, median {statistics.median(self.runs):g} runs, mean group"
            f" {statistics.mean(self.sizes):.2f},"
            f" {self.strictly} also with the {self.hidden} faults that move no output,"
            f" {statistics.mean(self.reported):.2f} faults reported each; {self.unseen} that"
            " nothing shows left out"
        )


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927, the score interval)."""
    z, share = 1.959964, hits / total
    middle = share + z * z / (2 * total)
    width = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return (middle - width) / scale, min(1.0, (middle + width) / scale)


def _share(hits: int, total: int) -> str:
    low, high = wilson(hits, total)
    return f"{100 * hits / total:.1f} %, {100 * low:.1f} to {100 * high:.1f} %"


def _covers(group: list[str], truth: str) -> bool:
    """Return whether a group holds a truth, or its container or part; `a|b` is either."""
    return any(
        name == one or name.startswith(f"{one}/") or one.startswith(f"{name}/")
        for name in group
        for one in truth.split("|")
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
                hidden = _hidden(model, planted) if count > 1 else []
                truths = [fault.layer for fault in planted]
                score.add(found, truths, f"{name} {seed} {kinds}", hidden)
                found.close()
    return score


def _hidden(model: Any, planted: list[Planted]) -> list[str]:
    """Return the layers whose fault moves no output, beyond what those before it do."""
    import keras

    from envcheck.conversion.recording import call_model

    specs, form = specs_of(model)
    packed = invent(model, specs, form).packed()
    before, found = keras.tree.flatten(call_model(model, packed)), []
    for fault in planted:
        after = keras.tree.flatten(call_model(fault.model, packed))
        pairs = zip(after, before, strict=True)
        if all(relative_error(plain(new), plain(old)) < VISIBLE for new, old in pairs):
            found.append(fault.layer)
        before = after
    return found


def graph_round(names: Iterable[str], seeds: Iterable[int]) -> Score:
    """Plant faults in ONNX files; the truth is the layer in whose scope the edited node lies.

    Nodes whose names point to no layer (folded weights, expanded operators) are left out. A
    transposition stands between two layers, either of which is right.
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
                if truth and planted[0] == "layout":
                    truth = "|".join([truth, *_behind(found, path, planted[1])])
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


def _behind(found: Investigation, path: str, node: str) -> list[str]:
    """Return the layers in whose scopes the next named nodes behind a node lie."""
    import onnx

    from envcheck.conversion.graphs import Graph

    graph = Graph(onnx.load(path))
    queue, owners = [node.partition("|")[2]], []
    while queue:
        for number in graph.readers.get(queue.pop(), []):
            item = graph.nodes[number]
            owner = _owner(found, path, f"{item.name}|{item.output[0]}")
            if owner:
                owners.append(owner)
            else:
                queue.extend(item.output)
    return owners
