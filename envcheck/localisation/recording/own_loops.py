"""Notice training in a loop of the program's own: its model is described, its steps are not."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.localisation.recording.session import Session

__all__ = ["hook_optimisers", "keras_trains"]

_inside = threading.local()


@contextmanager
def keras_trains() -> Iterator[None]:
    """Mark what this thread does meanwhile as training by Keras, not by a loop of the program."""
    _inside.depth = getattr(_inside, "depth", 0) + 1
    try:
        yield
    finally:
        _inside.depth -= 1


def hook_optimisers(session: Session) -> None:
    """Look at the first step of each optimiser that is not made by Keras itself."""
    from keras.src.optimizers.base_optimizer import BaseOptimizer

    applied = BaseOptimizer.apply

    @functools.wraps(applied)
    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        if not getattr(_inside, "depth", 0) and not vars(self).get("_envcheck_seen"):
            vars(self)["_envcheck_seen"] = True
            variables = trainable_variables or getattr(self, "_trainable_variables", None)
            session.guard("models", lambda: _describe_trained(session, list(variables or ())))
        return applied(self, grads, trainable_variables)

    BaseOptimizer.apply = apply


def _describe_trained(session: Session, variables: list[Any]) -> None:
    """Describe the outermost models that hold variables which are about to be changed."""
    import keras
    import tensorflow as tf

    wanted = {id(variable) for variable in variables}
    made = [] if session.sites is None else session.sites.made()
    models = [
        model
        for model in made
        if isinstance(model, keras.Model)
        and any(id(variable) in wanted for variable in model.trainable_weights)
    ]
    inner = {id(part) for model in models for part in model._flatten_layers(include_self=False)}
    inner |= {id(getattr(model, "_functional", None)) for model in models}  # of a Sequential
    with tf.init_scope():  # the step may be traced just now
        for model in models:
            if id(model) not in inner:
                session.model_id(model)
    if models:
        session.note_reason("the program trains in a loop of its own, whose steps cannot be seen")
