"""`envcheck golden record`: run a model on inputs and keep what it gives, with its noise."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from envcheck import __version__
from envcheck.errors import InputError
from envcheck.goldens.document import Golden, Output, read_arrays, write_golden
from envcheck.goldens.engines import Engine, RunFailed, first_batch, open_engine, run_whole
from envcheck.goldens.feeding import invented, load_entry, matched, prepared
from envcheck.goldens.layers import Layer, with_noise
from envcheck.goldens.measuring import worst_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    PathLike = str | os.PathLike[str]

__all__ = ["record_golden"]

SAMPLES = 8
_REPEATS = 3


def record_golden(
    model: PathLike,
    output: PathLike,
    *,
    inputs: PathLike | None = None,
    entry: str = "",
    samples: int = SAMPLES,
    layers: bool = False,
) -> Golden:
    """Record what a model computes, and write it to `output`.

    `inputs` is a .npz file with one array per input of the model, or raw data for `entry`, a
    `module:function` that turns it into them. Without it, `samples` inputs are invented from a
    fixed seed, and the recording says so. The noise is measured: the same inputs again, in
    another batch size, and under every other setting the runtime has. With `layers`, a digest of
    what each layer gives is kept, too, so that a replay can name the first that drifts.

    Raises InputError, MissingExtra, OutputError and UsageError.
    """
    path = os.fspath(model)
    try:
        engine = open_engine(path)
        raw, feeds = _feeds(engine, inputs, entry, samples)
        found = run_whole(engine, feeds)
        noise = _noise(engine, feeds, found)
        digests = _layers(engine, feeds) if layers else ()
    except RunFailed as problem:
        raise InputError(
            f"cannot be recorded ({problem.stage}): {_first_line(problem)}", place=path,
            hint="the model must run here before it can be recorded",
        ) from problem  # fmt: skip
    outputs = tuple(
        Output(name, value, {source: errors[number] for source, errors in noise.items()})
        for number, (name, value) in enumerate(zip(engine.outputs, found, strict=True))
    )
    golden = Golden(feeds, outputs, _about(path, engine, inputs is None, entry), raw, digests)
    write_golden(os.fspath(output), golden)
    return golden


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0][:300]


def _feeds(
    engine: Engine, inputs: PathLike | None, entry: str, samples: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the raw inputs, where there are any, and those of the model."""
    if inputs is None:
        if entry:
            raise InputError(
                "--entry needs raw inputs to work on", hint="give them with --inputs FILE"
            )
        return {}, invented(engine.inputs, samples)
    given = read_arrays(os.fspath(inputs))
    if not entry:
        return {}, matched(engine.inputs, given)
    return given, matched(engine.inputs, prepared(load_entry(entry), given))


def _noise(
    engine: Engine, feeds: Mapping[str, Any], found: list[Any]
) -> dict[str, tuple[float, ...]]:
    """Return, by what was changed, the relative error of each output."""
    noise: dict[str, tuple[float, ...]] = {}

    def measure(source: str, values: list[Any]) -> None:
        errors = (_error(value, known) for value, known in zip(values, found, strict=True))
        before = noise.get(source, (0.0,) * len(found))
        noise[source] = tuple(max(pair) for pair in zip(before, errors, strict=True))

    for _ in range(_REPEATS):
        measure("repeated", run_whole(engine, feeds))
    for source, run in engine.variants().items():
        try:
            measure(source, run(feeds))
        except RunFailed:
            continue  # a setting that this model does not take says nothing about it
    if all(spec.shape and spec.shape[0] is None for spec in engine.inputs):
        for source, size in _batches(feeds).items():
            try:
                measure(source, run_whole(engine, feeds, size))
            except (RunFailed, ValueError):
                continue
    return noise


def _batches(feeds: Mapping[str, Any]) -> dict[str, int]:
    """Return the batch sizes to try, other than all samples at once."""
    count = max(value.shape[0] for value in feeds.values())
    halves = {"in halves": count // 2} if count > 2 and count % 2 == 0 else {}
    return {"one at a time": 1, **halves}


def _layers(engine: Engine, feeds: Mapping[str, Any]) -> tuple[Layer, ...]:
    """Return the digests of all layers, with their noise."""
    ways = engine.layers(first_batch(engine, feeds))
    found: tuple[Layer, ...] = tuple(ways.pop(""))
    for others in ways.values():
        found = with_noise(found, others)
    return found


def _error(value: Any, known: Any) -> float:
    if value.shape != known.shape:
        return 0.0
    return min(worst_error(value, known), 0.999)


def _about(path: str, engine: Engine, is_invented: bool, entry: str) -> dict[str, Any]:
    from envcheck.artefacts.describing import describe
    from envcheck.artefacts.files import Place
    from envcheck.artefacts.reading import Unreadable, Unsure
    from envcheck.probing.host import Host
    from envcheck.probing.run import run_probes

    try:
        facts = describe(Place(path))
        digest = facts.get("content_sha256") or facts["sha256"]
    except (Unreadable, Unsure):
        digest = None
    machine = run_probes(Host(), ["cpu"])
    return {
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "tool": f"envcheck {__version__}",
        "model": {"name": os.path.basename(path), "content_sha256": digest},
        "runtime": engine.identity(),
        "machine": {key: fact.value for key, fact in machine.items() if fact.is_ok},
        "origin": "invented" if is_invented else "given",
        "entry": entry or None,
    }
