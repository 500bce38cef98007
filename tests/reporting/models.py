"""Reports on models: a comparison of two, and a training with its faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from envcheck.findings import Evidence, Fix, Location, Report
from envcheck.reporting.merging import merged
from envcheck.reporting.stored import parse_report
from tests.reporting.hostile import ATTACKS
from tests.reporting.sample import finding

__all__ = [
    "DIVERGED",
    "hostile_models",
    "parity_report",
    "training_finding",
    "training_report",
]

DIVERGED = Path(__file__).with_name("data") / "parity.json"
"""What `envcheck parity` said of a Keras model and its conversion with six weights changed."""


def parity_report(**changes: Any) -> Report:
    """Return the comparison of a model with its conversion, whose layer `hidden` differs."""
    return replace(parse_report(DIVERGED.read_text("utf-8")), **changes)


def training_finding(**changes: Any) -> Any:
    """Return a finding about a training script, with some of its members changed."""
    members: dict[str, Any] = {
        "rule": "TRN050",
        "fault": "loss-becomes-nan",
        "category": "numeric",
        "component": "training",
        "basis": "measured",
        "confidence": 0.95,
        "title": "the loss is NaN from batch 37 of epoch 2 on",
        "detail": "The weights of block/dense_2 grow without bound, so its output overflows."
        " Every number after that is NaN, and the training goes on for nothing.",
        "fix": Fix(text="Lower the learning rate to 0.001, or clip gradients by their norm."),
        "subject": "layer block/dense_2",
        "train": None,
        "deploy": None,
        "location": Location(
            file="train.py", line=31, column=5, layer="block/dense_2",
            tensor="block/dense_2/kernel", batch=37, epoch=2,
        ),
        "related": (Location(file="train.py", line=12), Location(file="models/net.py", line=8)),
        "seen": "NaN",
        "expected": "a finite loss",
        "series": (
            {"label": "loss", "points": [[step, 2.3 * 1.4**step] for step in range(38)]},
            {"label": "gradient norm", "points": [[step, 0.1 * 1.9**step] for step in range(38)]},
        ),
        "evidence": (
            Evidence(fact="fits/0/optimiser/learning_rate", origin="log", value=0.5),
            Evidence(fact="fits/0/curves/first_nonfinite_loss", origin="log", value=37),
        ),
        "because": (
            "fit f0 ec:nonFinite at step 197",
            "  the update of block/dense_2 is 0.8 of its weights",
            "  not: gradients are clipped",
        ),
        "guards": ("a custom training step is not judged",),
        "alternatives": (
            "TRN012 the learning rate 0.5 of SGD is high: lower it to 0.01",
            "TRN014 no gradient clipping: clip by norm 1.0",
        ),
        "stage": "training",
    }  # fmt: skip
    return finding(**{**members, **changes})


def training_report(**changes: Any) -> Report:
    """Return the report of one training with an error, a consequence and a warning."""
    root = training_finding()
    dead = training_finding(
        rank=2, rule="TRN055", fault="gradient-explodes",
        title="gradients of block/dense_1 explode",
        subject="layer block/dense_1", location=Location(layer="block/dense_1", epoch=2),
        related=(), series=(), alternatives=(), explained_by="TRN050 layer block/dense_2",
        seen=1.8e12, expected="below 1000",
    )  # fmt: skip
    small = training_finding(
        rank=3, rule="TRN030", fault="too-few-epochs", category="iterations", severity="warning",
        basis="inferred", confidence=0.6, title="training stopped while the loss still fell",
        detail="The validation loss fell in each of the 3 epochs.", subject="training",
        fix=Fix(text="Train longer."), location=Location(file="train.py", line=44), related=(),
        seen=3, expected="more than 3 epochs", alternatives=(), because=(),
        series=({"label": "val_loss", "points": [[0, 0.93], [1, 0.71], [2, 0.52]]},),
    )  # fmt: skip
    members: dict[str, Any] = {
        "findings": (root, dead, small),
        "rules": {"pass": 40, "finding": 3, "not_applicable": 20},
        "checked": ("training",),
        "inputs": {
            "run": {
                "place": "train.py", "kind": "training", "created": "2026-11-30T12:00:00Z",
                "tool": "envcheck 0.1.0", "keras": "3.15.1", "backend": "tensorflow",
                "exit_code": 0, "interrupted": None, "exception": None, "models": 1, "fits": 1,
                "epochs": 3, "steps": 240, "seconds": 12.3,
            }
        },
        "notes": ("2 further findings rank below three others about the same part",),
    }  # fmt: skip
    return Report(**{**members, **changes})


def hostile_models() -> Report:
    """Return a training and a comparison in which every text attacks the format that shows it."""
    findings = tuple(
        training_finding(
            rank=rank, rule=f"TRN9{rank:02}", title=text, detail=text, subject=text,
            fix=Fix(text=text, command=text), seen=text, expected={text: [text]},
            location=Location(file=text, line=3, column=2, layer=text, tensor=text, batch=1),
            related=(Location(file=text, line=2, layer=text, epoch=1), Location(tensor=text)),
            series=({"label": text, "points": [[0, 1.0], [1, text], [2, 3.0]]}, text),
            alternatives=(text,), because=(text,), guards=(text,),
        )
        for rank, text in enumerate(ATTACKS, 1)
    )  # fmt: skip
    everything = " ".join(ATTACKS)
    about = dict.fromkeys(("place", "keras", "backend", "interrupted", "exception"), everything)
    parity = dict(parity_report().parity or {})
    rows = [{**parity["layers"][5], **dict.fromkeys(("layer", "kind", "class", "tensor"), text)}
            for text in ATTACKS]  # fmt: skip
    parity |= {"layers": rows, "outputs": [{**parity["outputs"][0], "name": everything}]}
    side = {"place": everything, "runtime": {"runtime": everything, "version": everything}}
    models = parity_report(parity=parity, inputs={"train": side, "deploy": side}, notes=ATTACKS)
    training = training_report(
        findings=findings, inputs={"run": {**about, "kind": "training", "epochs": 3}}, notes=ATTACKS
    )
    return merged(training, models)
