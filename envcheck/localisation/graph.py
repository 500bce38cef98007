"""The graph that the training rules read: a training log as facts over one closed vocabulary.

Every triple carries the places of the log it was computed from, as JSON pointers without the
leading slash (`fits/0/optimiser/learning_rate`), so an explanation ends at what was recorded.
Subjects are the program (`run:program`), models (`model:m0`), layers (`layer:m0/dense_1`), fits
(`fit:f0`), their compiled outputs (`output:f0/0`), input and target arrays (`input:f0/0`,
`target:f0/0`) and numeric symptoms (`symptom:f0/…`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envcheck.comparing.graph import term
from envcheck.reasoning import FactBase

if TYPE_CHECKING:
    from envcheck.localisation.training_log import TrainingLog

__all__ = ["PROGRAM", "Place", "TrainingGraph"]

PROGRAM = "run:program"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a subject stands beside its source line: a layer, a batch, an epoch."""

    fit: str = ""
    """Id of the fit it belongs to, such as `f0`."""
    model: str = ""
    layer: str = ""
    """Path of the layer in its model."""
    tensor: str = ""
    batch: int | None = None
    epoch: int | None = None
    series: tuple[dict[str, Any], ...] = ()
    """What a plot shows: `{"label": text, "points": [[x, y], …]}`, at most 50 points each."""


@dataclass
class TrainingGraph:
    """The facts under construction; `base` is what the reasoner gets."""

    log: TrainingLog
    base: FactBase = field(default_factory=FactBase)
    places: dict[str, Place] = field(default_factory=dict)
    """Where each subject stands; subjects without one belong to the program as a whole."""
    notes: list[str] = field(default_factory=list)
    """Sentences about the analysis itself, for the report."""

    def put(self, subject: str, predicate: str, object_: str, *sources: str) -> None:
        """Assert one triple that was computed from the given places of the log."""
        self.base.add(subject, f"ec:{predicate}", object_, tuple(sorted(sources)))

    def put_value(self, subject: str, predicate: str, value: Any, *sources: str) -> None:
        """Assert a literal; a float that is not finite is refused with ValueError."""
        self.put(subject, predicate, term(value), *sources)

    def stand(self, subject: str, place: Place) -> None:
        """Say where a subject stands."""
        self.places[subject] = place
