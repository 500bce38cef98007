"""Keras models under whatever backend Keras has here."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from envcheck.errors import MissingExtra
from envcheck.goldens.engines import RunFailed, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envcheck.goldens.layers import Layer

__all__ = ["KerasEngine"]

_ONE_THREAD = {
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


class KerasEngine:
    """A model loaded without unsafe code: Keras refuses lambdas by itself."""

    def __init__(self, path: str) -> None:
        try:
            import keras
        except ImportError as problem:
            raise MissingExtra("keras", "keras", "running a Keras model") from problem
        self._keras = keras
        self._path = path
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
        """Return: layer by layer instead of as one graph, in double precision, and other settings.

        Threads and kernels are settled when the backend is loaded, so these run in processes of
        their own.
        """
        found: dict[str, Callable[[Mapping[str, Any]], list[Any]]] = {
            "eager": lambda feeds: self._flat(lambda: self._model(self._in(feeds), training=False))
        }
        twin = self._twin()
        if twin is not None:
            found["double precision"] = lambda feeds: self._flat(
                lambda: twin(self._in(feeds), training=False)
            )
        for name, changes in _settings(self._keras.backend.backend()).items():
            found[name] = partial(self._elsewhere, changes)
        return found

    def _elsewhere(self, changes: Mapping[str, str], feeds: Mapping[str, Any]) -> list[Any]:
        from envcheck.goldens.elsewhere import run_elsewhere

        return run_elsewhere(self._path, feeds, changes)

    def layers(self, feeds: Mapping[str, Any]) -> dict[str, list[Layer]]:
        """Return digests of what each layer gives, again, and in double precision."""
        values = self._in(feeds)
        found = {"": self._recorded(self._model, values)}
        found["repeated"] = self._recorded(self._model, values)
        twin = self._twin()
        if twin is not None:
            found["double precision"] = self._recorded(twin, values)
        return found

    def _recorded(self, model: Any, values: Any) -> list[Layer]:
        from envcheck.conversion.recording import record
        from envcheck.conversion.stores import Store
        from envcheck.goldens.layers import digest

        store = Store()
        try:
            calls = record(model, values, store)
            ports = [
                (call, port)
                for call in calls.calls
                for port in call.outputs
                if port.call == call.id and port.key in store
            ]
            found = [
                digest(f"{call.label}:{port.index}" if port.index else call.label,
                       call.layer_class, store.get(port.key))
                for call, port in ports
            ]  # fmt: skip
        except Exception as problem:
            raise RunFailed("run", str(problem)) from problem
        finally:
            store.close()
        return [layer for layer in found if layer is not None]

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


def _settings(backend: str) -> dict[str, dict[str, str]]:
    """Return the variables by which a backend computes the same in another order."""
    found = {"one thread": {**_ONE_THREAD, "KERAS_BACKEND": backend}}
    if backend == "tensorflow":
        on = os.environ.get("TF_ENABLE_ONEDNN_OPTS", "1") not in ("0", "false")
        found["other kernels"] = {"TF_ENABLE_ONEDNN_OPTS": "0" if on else "1"}
    return found


def _spec(tensor: Any) -> Spec:
    return Spec(str(tensor.name), str(tensor.dtype), tuple(tensor.shape))
