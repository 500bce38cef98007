"""The faults of a comparison as the report tells them: layers, tensors, sizes, causes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from envcheck.conversion.causes import ADVICE, Cause
from envcheck.conversion.explaining import causes_of
from envcheck.conversion.outputs import finite

if TYPE_CHECKING:
    from envcheck.conversion.investigation import Investigation
    from envcheck.conversion.localisation import Culprit
    from envcheck.conversion.unexercised import Hidden

__all__ = ["Fault", "faults_of"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault: the layers that share it, and what is known about it.

    `local` is the error of these layers by themselves, `natural` the one that they show in the
    plain run, `noise` the reference's own rounding. `calls` are numbers of recorded calls;
    `crashes` says that the candidate does not run because of it.
    """

    layers: tuple[str, ...]
    classes: tuple[str, ...]
    tensors: tuple[str, ...]
    local: float
    natural: float | None
    noise: float
    causes: tuple[Cause, ...]
    confirmed: bool
    calls: tuple[int, ...] = ()
    culprit: Culprit | None = None
    crashes: bool = False
    hidden: bool = False
    """Whether no value shows it on these samples: it was read off the weights alone."""

    @property
    def kind(self) -> str:
        """The kind of the strongest cause."""
        return self.causes[0].kind if self.causes else "unknown"

    @property
    def advice(self) -> str:
        """What to do about it."""
        return ADVICE.get(self.kind, ADVICE["unknown"])

    def to_json(self) -> dict[str, Any]:
        """Return the fault as `envcheck.report/1` spells it."""
        return {
            "layers": list(self.layers),
            "classes": list(self.classes),
            "tensors": [name for name in self.tensors if name],
            "kind": self.kind,
            "local_error": finite(self.local),
            "natural_error": finite(self.natural),
            "noise": finite(self.noise),
            "confirmed": self.confirmed,
            "evidence": [cause.text for cause in self.causes],
            "advice": self.advice,
        }


def faults_of(found: Investigation) -> list[Fault]:
    """Return the faults in the order of the calls; calls of one shared layer make one fault."""
    if found.comparison is None or found.recording is None:
        return []
    made: dict[tuple[int, ...], Fault] = {}
    for culprit in found.culprits:
        fault = _fault(found, culprit)
        key = tuple(sorted({id(found.recording.layers[call]) for call in culprit.calls}))
        before = made.get(key)
        made[key] = fault if before is None else _merged(before, fault)
    return [*made.values(), *(_hidden(found, hidden) for hidden in found.hidden)]


def _hidden(found: Investigation, hidden: Hidden) -> Fault:
    assert found.recording is not None
    call = found.recording.calls[hidden.call]
    return Fault(
        layers=(call.label,),
        classes=(call.layer_class,),
        tensors=(),
        local=found.local.get(call.outputs[0], 0.0),
        natural=found.natural.get(call.outputs[0]),
        noise=found.noise.of(call.outputs[0]),
        causes=(hidden.cause,),
        confirmed=True,
        calls=(call.id,),
        hidden=True,
    )


def _fault(found: Investigation, culprit: Culprit) -> Fault:
    assert found.recording is not None
    assert found.comparison is not None
    calls = [found.recording.calls[number] for number in culprit.calls]
    return Fault(
        layers=tuple(call.label for call in calls),
        classes=tuple(call.layer_class for call in calls),
        tensors=(culprit.tensor,),
        local=culprit.local_error,
        natural=found.natural.get(culprit.port),
        noise=found.noise.of(culprit.port),
        causes=tuple(culprit.causes or causes_of(found.comparison, culprit)),
        confirmed=culprit.confirmed,
        calls=culprit.calls,
        culprit=culprit,
        crashes=culprit.crashes,
    )


def _merged(first: Fault, second: Fault) -> Fault:
    texts = {cause.text: cause for cause in (*first.causes, *second.causes)}
    return replace(
        first,
        layers=(*first.layers, *second.layers),
        classes=(*first.classes, *second.classes),
        tensors=(*first.tensors, *second.tensors),
        local=max(first.local, second.local),
        causes=tuple(sorted(texts.values(), key=lambda cause: -cause.strength)),
        calls=(*first.calls, *second.calls),
    )
