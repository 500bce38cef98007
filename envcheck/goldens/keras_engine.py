"""Keras models under whatever backend Keras has here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envcheck.errors import MissingExtra
from envcheck.goldens.engines import RunFailed, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["KerasEngine"]


class KerasEngine:
    """A model loaded without unsafe code: Keras refuses lambdas by itself."""

    def __init__(self, path: str) -> None:
        try:
            import keras
        except ImportError as problem:
            raise MissingExtra("keras", "keras", "running a Keras model") from problem
        self._keras = keras
        try:
            self._model = keras.saving.load_model(path, compile=False)
        except Exception as problem:
            raise RunFailed("load", str(problem)) from problem
        self.inputs = tuple(_spec(tensor) for tensor in self._model.inputs)
        self.outputs = tuple(str(tensor.name) for tensor in self._model.outputs)

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """Return the outputs in order, as `predict` gives them. Raises RunFailed."""
        count = max(len(value) for value in feeds.values())
        return self._flat(lambda: self._model.predict(self._in(feeds), batch_size=count, verbose=0))

    def variants(self) -> dict[str, Callable[[Mapping[str, Any]], list[Any]]]:
        """Return: layer by layer instead of as one graph, and in double precision."""
        found: dict[str, Callable[[Mapping[str, Any]], list[Any]]] = {
            "eager": lambda feeds: self._flat(lambda: self._model(self._in(feeds), training=False))
        }
        twin = self._twin()
        if twin is not None:
            found["double precision"] = lambda feeds: self._flat(
                lambda: twin(self._in(feeds), training=False)
            )
        return found

    def identity(self) -> dict[str, Any]:
        """Return the runtime, its version and its backend."""
        found = {
            "runtime": "keras",
            "version": self._keras.__version__,
            "backend": self._keras.backend.backend(),
        }
        try:
            found["backend_version"] = __import__(found["backend"]).__version__
        except (ImportError, AttributeError):
            pass
        return found

    def _in(self, feeds: Mapping[str, Any]) -> Any:
        values = [feeds[spec.name] for spec in self.inputs]
        return values[0] if len(values) == 1 else values

    def _flat(self, call: Callable[[], Any]) -> list[Any]:
        import numpy as np

        try:
            found = call()
            found = self._keras.tree.flatten(found)
            return [np.asarray(self._keras.ops.convert_to_numpy(value)) for value in found]
        except Exception as problem:
            raise RunFailed("run", str(problem)) from problem

    def _twin(self) -> Any:
        """Return the model in double precision, or None where it cannot be made."""
        saving = self._keras.saving
        try:
            text = json.dumps(saving.serialize_keras_object(self._model))
            for name in ("name", "dtype"):
                text = text.replace(f'"{name}": "float32"', f'"{name}": "float64"')
            twin = saving.deserialize_keras_object(json.loads(text))
            twin.set_weights(self._model.get_weights())
        except Exception:  # noqa: BLE001 - one source of noise less
            return None
        return twin


def _spec(tensor: Any) -> Spec:
    return Spec(str(tensor.name), str(tensor.dtype), tuple(tensor.shape))
