"""`envcheck.keras.Recorder`: record the fits of a program that is run by plain `python`.

The callback itself does nothing while a fit runs. Importing it switches on the hooks that
`envcheck localise` uses, for the fits that have a `Recorder` among their callbacks.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from envcheck.errors import OutputError, UsageError
from envcheck.localisation.recording.session import Outlet, Session, active

__all__ = ["recorder_class"]

_NAMES = ("x_train", "y_train", "x_val", "y_val", "x_test", "y_test")


class _Recording:
    """What makes a Keras callback a recorder."""

    is_envcheck_recorder = True
    async_safe = True
    """Whether Keras may go on calling callbacks in a thread: nothing is done in them here."""

    def __init__(
        self,
        path: str | os.PathLike[str] = "training.json",
        data: Any = None,
        *,
        embed: bool = False,
    ) -> None:
        super().__init__()
        self.path = os.path.abspath(os.fspath(path))
        self._data = _named(data)
        self._session = _session()
        self._outlet = Outlet(self.path, everything=False)
        self._session.outlets.append(self._outlet)
        if embed:
            self._session.guard("embed", lambda: _embed_on_saving(self._session))

    def watches(self, record: Any) -> None:
        """Have a fit written to the file of this recorder."""
        self._outlet.fits.add(record.identifier)
        if self._data:
            self._session.guard(record.place, lambda: record.data.add_given(self._data))

    def fit_ended(self) -> None:
        """Write the log with the fingerprint of this environment."""
        self._session.program["seconds"] = self._session.seconds()
        _fingerprint(self._session)
        self._session.write()


@cache
def recorder_class() -> Any:
    """Return the class `Recorder`, a Keras callback; raises MissingExtra without Keras."""
    try:
        import keras
    except ModuleNotFoundError as problem:
        from envcheck.errors import MissingExtra

        raise MissingExtra("keras", "keras", "envcheck.keras.Recorder") from problem

    class Recorder(_Recording, keras.callbacks.Callback):  # type: ignore[misc]
        """A Keras callback that writes a training log, for `envcheck` to judge.

        Args:
            path: the file of the log, written while the fit runs and when it ends.
            data: arrays that the log should describe beside those given to `fit`: a tuple
                (x_train, y_train, x_test, y_test) or a dict with these keys, `x_val` and `y_val`.
            embed: whether to put the fingerprint of this environment into every model that is
                saved from now on, by `model.save` or by `ModelCheckpoint`.

        Weights, metrics, random state and output of the program stay what they would be.
        Raises UsageError for data that cannot be told apart.
        """

    _session()  # now: Python looks `model.fit` up before it makes a `Recorder` in its arguments
    Recorder.__module__ = "envcheck.keras"
    Recorder.__qualname__ = "Recorder"
    return Recorder


def _named(data: Any) -> dict[str, Any]:
    """Return given arrays by name. Raises UsageError for what cannot be told apart."""
    if data is None:
        return {}
    if isinstance(data, Mapping):
        unknown = sorted(set(map(str, data)) - set(_NAMES))
        if unknown:
            raise UsageError(f"data has no {unknown[0]!r}", hint=f"keys are {', '.join(_NAMES)}")
        return dict(data)
    if isinstance(data, list | tuple) and len(data) == 4:
        return dict(zip(("x_train", "y_train", "x_test", "y_test"), data, strict=True))
    raise UsageError(
        "data is neither four arrays nor a dict of them",
        hint="for example: Recorder(data=(x_train, y_train, x_test, y_test))",
    )


def _session() -> Session:
    """Return the session of this process, with its hooks on Keras."""
    known = active()
    if known is not None:
        return known
    from envcheck.localisation.recording.hooks import install
    from envcheck.localisation.recording.importing import script_name

    script = script_name(sys.argv[0]) if sys.argv and sys.argv[0] else "<interactive>"
    session = Session(script, time.time(), origin="recorder")
    session.guard("hooks", lambda: install(session))
    return session


def _fingerprint(session: Session) -> Any:
    """Return the fingerprint of this environment, captured once."""
    if session.fingerprint is None:
        from envcheck.capturing import capture

        found = session.guard("fingerprint", lambda: capture(role="train"))
        session.fingerprint = None if found is None else found.to_json()
        session.captured = found
    return session.captured


def _embed_on_saving(session: Session) -> None:
    """Put the fingerprint into every model file that Keras saves from now on."""
    import functools

    import keras
    from keras.src.saving import saving_api

    save = saving_api.save_model
    if getattr(save, "_envcheck_embeds", False):
        return

    @functools.wraps(save)
    def save_model(model: Any, filepath: Any, *positional: Any, **named: Any) -> Any:
        result = save(model, filepath, *positional, **named)
        session.guard("embed", lambda: _embed(session, os.fspath(filepath)))
        return result

    vars(save_model)["_envcheck_embeds"] = True
    for module in (saving_api, keras.saving, keras.models):
        if vars(module).get("save_model") is save:
            vars(module)["save_model"] = save_model


def _embed(session: Session, path: str) -> None:
    from envcheck.embedding.saving import Embedder

    fingerprint = _fingerprint(session)
    if fingerprint is None:
        return
    saved = Embedder(fingerprint).after_save(path)
    if saved.problem:
        session.note_problem("embed", OutputError(saved.problem))
