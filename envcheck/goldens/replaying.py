"""`envcheck golden replay`: whether a model still computes what was recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from envcheck.goldens.document import Golden, read_golden
from envcheck.goldens.engines import Engine, RunFailed, open_engine, run_whole
from envcheck.goldens.feeding import load_entry, matched, prepared
from envcheck.goldens.layer_drift import first_drift
from envcheck.goldens.measuring import DRIFT, EXACT, NOISE, Distance, distance
from envcheck.records import field, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    PathLike = str | os.PathLike[str]

__all__ = ["FAILED", "Replay", "replay_golden"]

FAILED = "failed"
_ORDER = (EXACT, NOISE, DRIFT, FAILED)
_WORDS = {
    EXACT: "exact", NOISE: "within noise", DRIFT: "drift", FAILED: "failed",
}  # fmt: skip


@record
class Replay:
    """What a replay came to: the worst of its parts.

    `parts` holds, by stage (`preprocessing`, `model`, `end to end`), the distance of each
    array from its recording. `problem` says why a replay failed.
    """

    parts: Mapping[str, tuple[Distance, ...]] = field(default_factory=dict)
    problem: str = ""
    notes: tuple[str, ...] = ()
    recorded: Mapping[str, Any] = field(default_factory=dict)
    replayed: Mapping[str, Any] = field(default_factory=dict)
    first: Distance | None = None
    """Where the model drifts and layers were recorded: the first layer that does."""

    @property
    def verdict(self) -> str:
        """exact, noise, drift or failed."""
        if self.problem:
            return FAILED
        verdicts = [item.verdict for items in self.parts.values() for item in items]
        return max(verdicts, key=_ORDER.index, default=FAILED)

    @property
    def is_fine(self) -> bool:
        """Whether the recording is met, exactly or within its noise."""
        return self.verdict in (EXACT, NOISE)

    @property
    def worst(self) -> tuple[str, Distance] | None:
        """The stage and the array furthest beyond its limit, the first stage first."""
        found = [(stage, item) for stage, items in self.parts.items() for item in items]
        bad = [pair for pair in found if pair[1].verdict == self.verdict]
        return max(bad, key=lambda pair: pair[1].error / (pair[1].limit or 1), default=None)

    @property
    def summary(self) -> str:
        """One line: verdict, size, and how many decisions changed."""
        if self.problem:
            return f"golden: failed: {self.problem}"
        words = f"golden: {_WORDS[self.verdict]}"
        if self.worst is None or self.verdict == EXACT:
            return words
        stage, item = self.worst
        flips = f", {item.flips} of {item.decisions} decisions flip" if item.decisions else ""
        note = f" ({item.note})" if item.note else ""
        return (
            f"{words} in {stage} {item.name}: relative error {item.error:.2g}, noise ends at"
            f" {item.limit:.2g}{flips}{note}{self._where}"
        )

    @property
    def _where(self) -> str:
        return f"; first in layer {self.first.name} {self.first.note}" if self.first else ""

    def figures(self) -> dict[str, Any]:
        """Return the verdict with its size as flat JSON data, for a log."""
        out: dict[str, Any] = {"verdict": self.verdict}
        if self.problem:
            return {**out, "problem": self.problem}
        if self.worst is not None:
            stage, item = self.worst
            out.update(stage=stage, output=item.name, flips=item.flips, decisions=item.decisions,
                       limit=item.limit)  # fmt: skip
            out["error"] = item.to_json()["error"]
        if self.first is not None:
            out["layer"] = self.first.name
        return out

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {
            "schema": "envcheck.replay/1",
            "verdict": self.verdict,
            "problem": self.problem or None,
            "notes": list(self.notes),
            "recorded": dict(self.recorded),
            "replayed": dict(self.replayed),
            "first_layer": None if self.first is None else self.first.to_json(),
            "parts": {
                stage: [item.to_json() for item in items] for stage, items in self.parts.items()
            },
        }


def replay_golden(model: PathLike, golden: PathLike, *, entry: str = "") -> Replay:
    """Run a model on recorded inputs and compare what it gives with the recording.

    With `entry`, a `module:function`, the recorded raw inputs pass through the preprocessing
    that is installed here; the name in the file is never imported by itself. A model that
    cannot be loaded or run is a result, too: `failed`.

    Raises InputError for a golden that cannot be read, MissingExtra and UsageError.
    """
    recording = read_golden(os.fspath(golden))
    function = load_entry(entry) if entry else None
    notes = _notes(recording, entry)
    recorded = dict(recording.about.get("runtime") or {})
    try:
        engine = open_engine(os.fspath(model))
        parts = {"model": _compare_model(engine, recording, recording.inputs)}
        if function is not None and recording.raw:
            fresh = prepared(function, recording.raw)
            before = _compare_feeds(fresh, recording)
            parts = {"preprocessing": before, **parts}
            if any(item.verdict != EXACT for item in before) and not _misshapen(before):
                parts["end to end"] = _compare_model(engine, recording, fresh)
    except RunFailed as problem:
        text = str(problem).strip().partition("\n")[0][:300]
        return Replay(problem=f"{problem.stage}: {text}", notes=notes, recorded=recorded)
    first = None
    if recording.layers and any(item.verdict == DRIFT for item in parts["model"]):
        first, remark = first_drift(engine, recording)
        notes = (*notes, remark) if remark else notes
    return Replay(parts, "", notes, recorded, engine.identity(), first)


def _notes(recording: Golden, entry: str) -> tuple[str, ...]:
    notes = []
    if recording.about.get("origin") == "invented":
        notes.append("the inputs were invented from a fixed seed: they show whether two runtimes"
                     " compute the same, not whether the model is right")  # fmt: skip
    if recording.raw and not entry:
        notes.append("the preprocessing was not replayed: name it with --entry MODULE:FUNC")
    if entry and not recording.raw:
        notes.append("the recording has no raw inputs, so --entry had nothing to do")
    return tuple(notes)


def _compare_model(
    engine: Engine, recording: Golden, feeds: Mapping[str, Any]
) -> tuple[Distance, ...]:
    """Compare the outputs, by name, else by order."""
    values = run_whole(engine, matched(engine.inputs, feeds))
    known = recording.outputs
    if len(values) != len(known):
        raise RunFailed("interface", f"gives {len(values)} outputs, {len(known)} are recorded")
    by_name = dict(zip(engine.outputs, values, strict=True))
    if {item.name for item in known} == set(by_name):
        values = [by_name[item.name] for item in known]
    for item, value in zip(known, values, strict=True):
        if item.value.shape != value.shape:
            raise RunFailed(
                "interface",
                f"output {item.name} has shape {list(value.shape)}, {list(item.value.shape)} is"
                " recorded",
            )
    return tuple(
        distance(item.name, value, item.value, item.largest_noise)
        for item, value in zip(known, values, strict=True)
    )


def _compare_feeds(fresh: Mapping[str, Any], recording: Golden) -> tuple[Distance, ...]:
    """Compare what the preprocessing gives with what it gave; another shape is drift."""
    if len(fresh) != len(recording.inputs):
        raise RunFailed("preprocessing", f"gives {len(fresh)} inputs, not {len(recording.inputs)}")
    out = []
    for (name, known), given in zip(recording.inputs.items(), fresh.values(), strict=True):
        value = fresh.get(name, given)
        if value.shape != known.shape:
            note = f"shape {list(value.shape)} instead of {list(known.shape)}"
            out.append(Distance(name, DRIFT, float("inf"), 0.0, 0.0, 0, 0, note))
            continue
        if value.dtype != known.dtype and known.dtype.kind == "f":
            value = value.astype(known.dtype)
        found = distance(name, value, known, 0.0)
        changed = float((value != known).mean()) if known.size else 0.0
        note = f"{changed:.1%} of the numbers differ" if changed else ""
        out.append(
            Distance(name, found.verdict, found.error, found.limit, found.largest, 0, 0, note)
        )
    return tuple(out)


def _misshapen(parts: tuple[Distance, ...]) -> bool:
    return any(item.error == float("inf") for item in parts)
