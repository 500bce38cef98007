"""Model files: the same on both sides, usable, safe, and which of them count.

A file that the deploy side has recorded is judged as it lies there. Where the deploy side has
recorded none, those of the train side are taken to be shipped as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check, put_check
from envcheck.comparing.graph import Graph
from envcheck.facts import Fact
from envcheck.fingerprint import Fingerprint
from envcheck.records import record

__all__ = ["CONTRIB", "Artefact", "add_artefacts", "listed", "recorded", "shipped_artefacts"]

_MAKES_CODE = frozenset({"types.CodeType", "types.FunctionType", "types.LambdaType"})
"""Names that only build functions, which every pickled function needs."""
_PICKLES = frozenset({"pickle", "joblib", "torch"})
_MOST_NAMED = 4


@record(kw_only=True)
class Artefact:
    """One model file as one side has recorded it."""

    name: str
    side: str
    fact: Fact

    @property
    def key(self) -> str:
        """The key of its fact."""
        return f"model.{self.name}"

    @property
    def source(self) -> str:
        """The source of its fact, for the graph."""
        return f"{self.side}:{self.key}"

    @property
    def format(self) -> str:
        """The format, empty when the file could not be read."""
        return str(self.get("format") or "")

    @property
    def is_pickle(self) -> bool:
        """Whether loading it runs an unpickler."""
        return self.format in _PICKLES

    def get(self, field: str) -> Any:
        """Return a field of the fact, None when it is not known."""
        if not self.fact.is_ok or field in self.unread:
            return None
        return self.fact.value.get(field)

    def names(self, field: str) -> list[str]:
        """Return a list of the fact, empty when it is not known."""
        found = self.get(field)
        return [str(item) for item in found] if isinstance(found, list) else []

    @property
    def unread(self) -> frozenset[str]:
        """The fields that could not be read."""
        entries = self.fact.value.get("unread") or () if self.fact.is_ok else ()
        return frozenset(str(entry.get("field")) for entry in entries)


def listed(names: Iterable[str]) -> str:
    """Return a few names and how many more there are."""
    found = list(names)
    more = len(found) - _MOST_NAMED
    return ", ".join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def recorded(side: str, fingerprint: Fingerprint) -> dict[str, Artefact]:
    """Return the model files that a side has recorded, by name."""
    return {
        name: Artefact(name=name, side=side, fact=fact)
        for name, fact in sorted(fingerprint.family("model").items())
    }


def shipped_artefacts(train: Fingerprint, deploy: Fingerprint) -> list[Artefact]:
    """Return the model files that the deploy side will load, as far as they are recorded."""
    there = recorded("deploy", deploy)
    return list((there or recorded("train", train)).values())


def add_artefacts(graph: Graph) -> None:
    """Add what can be said about model files without looking at the packages."""
    here, there = recorded("train", graph.train), recorded("deploy", graph.deploy)
    for name in sorted(here.keys() | there.keys()):
        _add_identity(graph, here.get(name), there.get(name))
    for artefact in shipped_artefacts(graph.train, graph.deploy):
        original = here.get(artefact.name) if artefact.side == "deploy" else None
        if artefact.side == "deploy":
            put_check(graph, _unusable(artefact), _unusable(original))
            put_check(graph, _external(artefact), _external(original))
        put_check(graph, _outside(artefact), _outside(original))
        put_check(graph, _dangerous(artefact), _dangerous(original))
        put_check(graph, _reaching(artefact), _reaching(original))
        put_check(graph, _own_operators(artefact), _own_operators(original))


def _add_identity(graph: Graph, here: Artefact | None, there: Artefact | None) -> None:
    """Add whether a file is the same on both sides, by its content."""
    if here is None or there is None:
        return  # made on the deploy side, not shipped, or not recorded there
    sources = (here.source, there.source)
    if here.fact.is_open or there.fact.is_open:
        put_check(graph, _identity(there, OPEN, sources))
        return
    before, after = _digests(here, there)
    if not (before and after):
        why = "the two sides have no digest of the same kind"
        put_check(graph, _identity(there, OPEN, sources, open_question=why))
        return
    outcome = FITS if before == after else MISFIT
    found = _identity(there, outcome, sources, train=before[:12], deploy=after[:12])
    put_check(graph, found)


def _identity(
    artefact: Artefact,
    outcome: str,
    sources: tuple[str, ...],
    *,
    open_question: str = "",
    train: str = "",
    deploy: str = "",
) -> Check:
    return Check(
        subject=artefact.key,
        kind="sameFile",
        outcome=outcome,
        sources=sources,
        name=artefact.name,
        train=train,
        deploy=deploy,
        open_question=open_question,
    )


def _digests(here: Artefact, there: Artefact) -> tuple[str, str]:
    """Return digests of the same kind, of the content where both sides have it."""
    for field in ("content_sha256", "sha256"):
        pair = [str(side.get(field) or "") for side in (here, there)]
        if all(pair):
            outside = [str(side.get("external_sha256") or "") for side in (here, there)]
            if pair[0] == pair[1] and all(outside):
                return outside[0], outside[1]
            return pair[0], pair[1]
    return "", ""


def _unusable(artefact: Artefact | None) -> Check | None:
    if artefact is None:
        return None
    outcome = {"error": MISFIT, "ok": FITS}.get(artefact.fact.state, OPEN)
    return _of(artefact, "usableFile", outcome, what=artefact.fact.reason)


def _external(artefact: Artefact | None) -> Check | None:
    """Check that the weights beside an ONNX file are there and whole."""
    if artefact is None or not artefact.names("external_data"):
        return None
    missing, short = artefact.names("external_missing"), artefact.names("external_short")
    parts = [
        f"{what}: {listed(names)}"
        for what, names in (("not there", missing), ("too short", short))
        if names
    ]
    return _of(artefact, "externalData", MISFIT if parts else FITS, what="; ".join(parts))


def _outside(artefact: Artefact | None) -> Check | None:
    """Check that a file makes its reader reach for nothing outside its own folder."""
    if artefact is None or not artefact.fact.is_ok:
        return None
    names = artefact.names("external_outside") + artefact.names("unsafe_names")
    return _of(artefact, "insideFolder", MISFIT if names else FITS, what=listed(names))


def _dangerous(artefact: Artefact | None) -> Check | None:
    """Check the names in a pickle that can run commands."""
    if artefact is None or not artefact.is_pickle:
        return None
    if "dangerous" in artefact.unread:
        return _of(artefact, "harmlessNames", OPEN, open_question="the pickle was not read whole")
    names = [name for name in artefact.names("dangerous") if name not in _MAKES_CODE]
    return _of(artefact, "harmlessNames", MISFIT if names else FITS, what=listed(names))


def _reaching(artefact: Artefact | None) -> Check | None:
    """Check the operators of a SavedModel that reach for files or Python."""
    if artefact is None or artefact.format != "savedmodel" or artefact.get("dangerous") is None:
        return None
    names = artefact.names("dangerous")
    return _of(artefact, "graphOnly", MISFIT if names else FITS, what=listed(names))


def _own_operators(artefact: Artefact | None) -> Check | None:
    """Check for operators that neither a standard nor a runtime brings."""
    if artefact is None or artefact.format not in ("onnx", "tflite"):
        return None
    names = [name for name in artefact.names("custom_domains") if name not in CONTRIB]
    names += [op for op in artefact.names("custom_ops") if op not in artefact.names("flex_ops")]
    return _of(artefact, "standardOperators", MISFIT if names else FITS, what=listed(names))


CONTRIB = frozenset({"ai.onnx.contrib", "com.microsoft.extensions"})
"""Domains of onnxruntime-extensions."""


def _of(
    artefact: Artefact, kind: str, outcome: str, *, what: str = "", open_question: str = ""
) -> Check:
    return Check(
        subject=artefact.key,
        kind=kind,
        outcome=outcome,
        sources=(artefact.source,),
        name=artefact.name,
        what=what,
        open_question=open_question,
    )
