"""Hooks on Keras: they look at each fit from its own calls, and leave no frame behind.

No callback is added to a fit, for Keras dispatches callbacks in a thread as long as all of them
allow it; instead the methods of its callback list are wrapped, which `fit` calls itself.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.own_loops import hook_optimisers
from envcheck.localisation.recording.tracebacks import own_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from envcheck.localisation.recording.session import Session

__all__ = ["install"]

_FIT = "_envcheck_fit"
"""The attribute of a callback list, or of an iterator, that holds the fit it serves."""


def install(session: Session) -> None:
    """Put hooks on Keras, which has just been imported, so that the session sees every fit."""
    import keras

    session.activate()
    session.program["keras"] = keras.__version__
    backend = keras.config.backend() if hasattr(keras, "config") else "tensorflow"
    session.program["backend"] = backend
    if not keras.__version__.startswith("3."):
        session.note_reason(f"Keras {keras.__version__} is not recorded, Keras 3 is")
        return
    if backend != "tensorflow":
        session.note_reason(f"the Keras backend is {backend}; the tensorflow backend is recorded")
        return
    session.guard("sites", lambda: _install_sites(session))
    _hide_from_tracebacks()
    session.guard("optimisers", lambda: hook_optimisers(session))
    _hook_fit(session)
    _hook_iterator()
    _hook_callbacks()


def _install_sites(session: Session) -> None:
    from envcheck.localisation.recording.sites import Sites

    session.sites = Sites()
    session.sites.install()


def _hide_from_tracebacks() -> None:
    """Let Keras's own filter of tracebacks drop the recorder's frames too."""
    from keras.src.utils import traceback_utils

    known = getattr(traceback_utils, "_EXCLUDED_PATHS", None)
    if isinstance(known, tuple):
        vars(traceback_utils)["_EXCLUDED_PATHS"] = (*known, own_folder())


def _hook_fit(session: Session) -> None:
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer
    from keras.src.utils.traceback_utils import filter_traceback

    from envcheck.localisation.recording.batches import recorded_batch
    from envcheck.localisation.recording.fits import recorded_fit

    inner = getattr(TensorFlowTrainer.fit, "__wrapped__", TensorFlowTrainer.fit)

    @functools.wraps(inner)
    def fit(self: Any, *positional: Any, **named: Any) -> Any:
        return recorded_fit(session, inner, self, positional, named)

    once = TensorFlowTrainer.train_on_batch

    @functools.wraps(once)
    def train_on_batch(self: Any, *positional: Any, **named: Any) -> Any:
        return recorded_batch(session, once, self, positional, named)

    TensorFlowTrainer.fit = filter_traceback(fit)
    TensorFlowTrainer.train_on_batch = train_on_batch


def _hook_iterator() -> None:
    from keras.src.backend.tensorflow.trainer import TFEpochIterator

    from envcheck.localisation.recording.fits import fit_underway

    made, advanced = TFEpochIterator.__init__, TFEpochIterator.__next__

    @functools.wraps(made)
    def __init__(self: Any, *positional: Any, **named: Any) -> None:  # noqa: N807
        made(self, *positional, **named)
        fit = fit_underway()
        if fit is not None and fit.iterator_made(self, sys._getframe(1)):
            vars(self)[_FIT] = fit

    @functools.wraps(advanced)
    def __next__(self: Any) -> Any:  # noqa: N807
        item = advanced(self)
        fit = vars(self).get(_FIT)
        return item if fit is None else fit.batch_drawn(item)

    TFEpochIterator.__init__ = __init__
    TFEpochIterator.__next__ = __next__


def _hook_callbacks() -> None:
    from keras.src.callbacks.callback_list import CallbackList

    from envcheck.localisation.recording.fits import fit_underway

    began = CallbackList.on_train_begin

    @functools.wraps(began)
    def on_train_begin(self: Any, logs: Any = None) -> None:
        fit = fit_underway()
        if fit is not None and fit.claims(self):
            vars(self)[_FIT] = fit
            fit.train_begin()
        began(self, logs)

    CallbackList.on_train_begin = on_train_begin
    _notify(CallbackList, "on_train_batch_begin", lambda fit, batch, _: fit.batch_begin(batch))
    _notify(CallbackList, "on_train_batch_end", lambda fit, batch, logs: fit.batch_end(batch, logs))
    _notify(CallbackList, "on_epoch_begin", lambda fit, epoch, _: fit.epoch_begin(epoch))
    _notify(CallbackList, "on_epoch_end", lambda fit, epoch, logs: fit.epoch_end(epoch, logs))


def _notify(kind: Any, name: str, tell: Callable[[Any, int, Any], None]) -> None:
    """Wrap a method of callback lists so that the fit of a list is told before it runs."""
    original = getattr(kind, name)

    @functools.wraps(original)
    def method(self: Any, number: int, logs: Any = None) -> None:
        fit = vars(self).get(_FIT)
        if fit is not None:
            tell(fit, number, logs)
        original(self, number, logs)

    setattr(kind, name, method)
