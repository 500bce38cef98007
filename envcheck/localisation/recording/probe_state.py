"""Leave no trace: what a probe of a model must put back, and what it must not print.

Put back are the generators of Python, NumPy, Keras and TensorFlow, Keras's counters of
automatic names, the losses that layers note while they are called and, where the run writes
them, the variables of the model.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

__all__ = ["kept_variables", "untouched"]

_GENERATOR = "global_seed_generator"
_NAMES = "object_name_uids"


@contextmanager
def untouched(model: Any) -> Iterator[None]:
    """Run a block after which global random state, names, layer losses and stdout are as before."""
    with ExitStack() as stack:
        for keep in (_keep_python, _keep_numpy, _keep_keras, _keep_tensorflow):
            stack.callback(keep())
        stack.callback(_keep_losses(model))
        stack.enter_context(_muted())
        yield


@contextmanager
def kept_variables(model: Any) -> Iterator[None]:
    """Run a block after which every variable of the model holds the bits it held before."""
    import tensorflow as tf

    variables = [*model.variables, *getattr(model, "metrics_variables", ())]
    saved = [(variable, tf.identity(variable.value)) for variable in variables]
    try:
        yield
    finally:
        for variable, value in saved:
            variable.assign(value)


def _keep_python() -> Callable[[], None]:
    state = random.getstate()
    return lambda: random.setstate(state)


def _keep_numpy() -> Callable[[], None]:
    import numpy as np

    state = np.random.get_state()
    return lambda: np.random.set_state(state)


def _keep_keras() -> Callable[[], None]:
    from keras.src.backend.common import global_state

    generator = global_state.get_global_attribute(_GENERATOR)
    seed = None if generator is None else generator.state.numpy()
    names = global_state.get_global_attribute(_NAMES)
    counts = None if names is None else dict(names)

    def put_back() -> None:
        global_state.set_global_attribute(_GENERATOR, generator)
        if generator is not None:
            generator.state.assign(seed)
        if names is not None and counts is not None:
            names.clear()
            names.update(counts)

    return put_back


def _keep_tensorflow() -> Callable[[], None]:
    """Keep the eager operation seeds and the state of the global generator, if there is one."""
    from tensorflow.python.eager import context
    from tensorflow.python.ops import stateful_random_ops

    drawing: Any = getattr(context.context(), "_rng", None)
    drawn = drawing.getstate() if hasattr(drawing, "getstate") else None
    generator = getattr(stateful_random_ops, "global_generator", None)
    state = None if generator is None else generator.state.numpy()

    def put_back() -> None:
        if drawn is not None:
            drawing.setstate(drawn)
        if generator is not None:
            generator.state.assign(state)

    return put_back


def _keep_losses(model: Any) -> Callable[[], None]:
    layers = list(model._flatten_layers())
    saved = [(layer, list(layer._losses), set(layer._loss_ids)) for layer in layers]

    def put_back() -> None:
        for layer, losses, identities in saved:
            layer._losses[:] = losses
            layer._loss_ids.clear()
            layer._loss_ids.update(identities)

    return put_back


class _Muted:
    """A stream that drops what one thread writes and passes on everything else."""

    def __init__(self, stream: Any, thread: int) -> None:
        self._stream = stream
        self._thread = thread

    def write(self, text: str) -> int:
        """Write text, unless the muted thread does."""
        if threading.get_ident() == self._thread:
            return len(text)
        return int(self._stream.write(text) or 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _muted() -> Iterator[None]:
    """Drop what this thread prints: a layer that prints is called once more than it would be."""
    stream = sys.stdout
    muted: Any = _Muted(stream, threading.get_ident())
    sys.stdout = muted
    try:
        yield
    finally:
        if sys.stdout is muted:
            sys.stdout = stream
