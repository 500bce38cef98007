"""Everything that is recorded in one process: the models, the fits and how the program ended."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from envcheck import __version__
from envcheck.localisation.recording.writing import LogFile
from envcheck.training_schema import SCHEMA

__all__ = ["SCHEMA", "Outlet", "Session", "active", "now"]


MOST_FITS = 64
"""Fits that are recorded; a search over hundreds of settings would fill the memory."""

_Result = TypeVar("_Result")


def now() -> str:
    """Return the time in UTC, as envelopes have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


_active: list[Session] = []


def active() -> Session | None:
    """Return the session whose hooks are on Keras, or None."""
    return _active[0] if _active else None


class Outlet:
    """A file that the log goes to: all of it, or the fits that one `Recorder` has watched."""

    def __init__(self, path: str, *, everything: bool) -> None:
        self.file = LogFile(path)
        self.everything = everything
        self.fits: set[str] = set()


class Session:
    """The training log of one process while it grows."""

    def __init__(self, script: str, begun: float, *, origin: str = "localise") -> None:
        self.process = os.getpid()
        self.origin = origin
        self.outlets: list[Outlet] = []
        self.fingerprint: dict[str, Any] | None = None
        self.captured: Any = None
        self.sites: Any = None
        self.fits: list[Any] = []
        self.models: list[dict[str, Any]] = []
        self.problems: list[dict[str, str]] = []
        self.left_out = 0
        self.program: dict[str, Any] = {
            "script": script, "exit_code": None, "seconds": None, "exception": None,
            "interrupted": None, "keras": None, "backend": None,
        }  # fmt: skip
        self._begun = begun
        self._created = now()
        self._reason: str | None = None
        self._known: dict[int, tuple[Any, tuple[Any, ...], str]] = {}
        self._lock = threading.RLock()

    def guard(self, place: str, work: Callable[[], _Result]) -> _Result | None:
        """Return what `work` returns, or None with its exception noted as the reason."""
        try:
            return work()
        except Exception as problem:  # noqa: BLE001 - a recorder never breaks what it watches
            self.note_problem(place, problem)
            return None

    def note_problem(self, place: str, problem: BaseException) -> None:
        """Note why something is missing from the log."""
        text = f"{type(problem).__name__}: {problem}"[:300]
        entry = {"place": place, "reason": text}
        if entry not in self.problems and len(self.problems) < 100:
            self.problems.append(entry)

    def activate(self) -> None:
        """Become the session whose hooks are on Keras."""
        _active[:] = [self]

    def note_reason(self, reason: str) -> None:
        """Note why nothing can be recorded."""
        self._reason = self._reason or reason

    def admits(self, *, watched: bool = False) -> bool:
        """Return whether one more fit is recorded: not in a fork, and not without end.

        Where only a `Recorder` switched the hooks on, those fits are that one watches.
        """
        if os.getpid() != self.process or (self.origin == "recorder" and not watched):
            return False
        if len(self.fits) < MOST_FITS:
            return True
        self.left_out += 1
        return False

    def add(self, fit: Any) -> str:
        """Add a fit and return its id."""
        with self._lock:
            self.fits.append(fit)
            return f"f{len(self.fits) - 1}"

    def model_id(self, model: Any, *, again: bool = False) -> str | None:
        """Return the id of a model in the log, describing it when it is new or has changed."""
        state = _state(model)
        known = self._known.get(id(model))
        if known is not None and known[0]() is model and known[1] == state and not again:
            return known[2]
        if again and known is not None:
            self.models = [item for item in self.models if item["id"] != known[2]]
            identifier = known[2]
        else:
            identifier = f"m{len(self.models)}"
        described = self.guard(f"models/{identifier}", lambda: self._described(model, identifier))
        self.models.append(described or _bare(model, identifier))
        self.models.sort(key=lambda item: int(item["id"][1:]))
        self._known[id(model)] = (weakref.ref(model), state, identifier)
        return identifier

    def _described(self, model: Any, identifier: str) -> dict[str, Any]:
        from envcheck.localisation.recording.models import describe_model

        return describe_model(model, self.sites, identifier)

    def write_if_due(self, *, ended: bool = False) -> None:
        """Write the log where the last writing is long enough ago, or a fit has just `ended`."""
        if any(outlet.file.is_due(ended=ended) for outlet in self.outlets):
            self.write()

    def write(self) -> None:
        """Write the log as it is now; a failure is noted and does no harm."""
        if os.getpid() != self.process:
            return
        with self._lock:
            for outlet in self.outlets:
                if outlet.everything or outlet.fits:
                    self.guard("log", partial(self._write_to, outlet))

    def _write_to(self, outlet: Outlet) -> None:
        begun = time.monotonic()
        outlet.file.write(self.document(outlet), begun=begun)

    def seconds(self) -> float:
        """Return how long the program has run, in seconds."""
        return round(time.time() - self._begun, 3)

    def fit_failed(self, problem: BaseException) -> None:
        """Note the exception that left a fit, where nobody sees how the program ends."""
        if self.origin == "recorder":
            self.program["exception"] = self.guard("program/exception", lambda: _told(problem))

    def close(self, problem: BaseException | None, *, final: bool) -> None:
        """Note how the script ended and write the log."""
        if not final:
            for fit in self.fits:
                self.guard(f"fits/{fit.identifier}", fit.close)
            self.program["exception"] = self.guard("program/exception", lambda: _told(problem))
        self.program["seconds"] = self.seconds()
        self.write()

    def document(self, outlet: Outlet | None = None) -> dict[str, Any]:
        """Return the whole log, or what of it goes to one outlet."""
        chosen = self.fits
        models = self.models
        if outlet is not None and not outlet.everything:
            chosen = [fit for fit in self.fits if fit.identifier in outlet.fits]
            known = {fit.model_id for fit in chosen}
            models = [model for model in models if model["id"] in known]
        fits = [fit.document() for fit in chosen]
        origin = "localise" if outlet is None or outlet.everything else "recorder"
        return {
            "schema": SCHEMA,
            "envelope": {
                "created": self._created, "tool": f"envcheck {__version__}", "origin": origin,
            },
            "recorded": bool(fits),
            "reason": None if fits else self._reason or self._why_nothing(),
            "program": self.program,
            "fingerprint": self.fingerprint,
            "models": models,
            "fits": fits,
            "fits_left_out": self.left_out,
            "problems": self.problems,
        }  # fmt: skip

    def _why_nothing(self) -> str:
        if self.program["keras"] is None:
            return "the program did not import Keras"
        return "the program called neither fit nor train_on_batch"


def _told(problem: BaseException | None) -> dict[str, Any] | None:
    """Return an exception that left the script as the log holds it."""
    if problem is None or isinstance(problem, SystemExit | KeyboardInterrupt):
        return None
    from envcheck.localisation.recording.crashes import describe_exception

    return describe_exception(problem)


def _state(model: Any) -> tuple[Any, ...]:
    """Return what tells that a model has been changed since it was described."""
    layers = model._flatten_layers()
    return tuple((layer.name, layer.trainable, layer.built) for layer in layers)


def _bare(model: Any, identifier: str) -> dict[str, Any]:
    """Return a model of which nothing more is known than its name."""
    return {
        "id": identifier, "name": model.name, "class": type(model).__name__, "kind": "subclassed",
        "parameters": None, "trainable_parameters": None, "site": None, "inputs": [],
        "outputs": [], "graph_known": False, "layers": [],
    }  # fmt: skip
