"""A TensorFlow SavedModel: as a candidate, or as a reference whose layers are not visible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.conversion.graphs import Tensor
from envcheck.conversion.inputs import Spec
from envcheck.conversion.runtimes.protocol import Failure, Feed, Partial, Whole
from envcheck.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.conversion.arrays import Array
    from envcheck.conversion.runtimes.protocol import Settings
    from envcheck.conversion.stores import Store

__all__ = ["NAME", "SUFFIXES", "load_reference", "open_candidate"]

NAME = "savedmodel"
SUFFIXES = ("",)
_SIGNATURE = "serving_default"


def open_candidate(path: str, settings: Settings) -> _Candidate:  # noqa: ARG001 - same for all
    """Load a SavedModel folder."""
    return _Candidate(path)


def load_reference(path: str) -> Any:
    """Return a SavedModel that can be called as a Keras model is; none of its layers show."""
    return _Reference(path)


def _signature(path: str) -> tuple[Any, Any]:
    try:
        import tensorflow as tf
    except ImportError as problem:
        raise MissingExtra("tensorflow", "keras", "running a SavedModel") from problem
    try:
        loaded = tf.saved_model.load(path)
    except Exception as problem:
        raise InputError(f"cannot be loaded: {str(problem)[:200]}", place=path) from problem
    if not loaded.signatures:
        raise InputError("has no signature to call", place=path)
    name = _SIGNATURE if _SIGNATURE in loaded.signatures else next(iter(loaded.signatures))
    return loaded, loaded.signatures[name]


class _Reference:
    """Callable as `model(inputs, training=False)`."""

    def __init__(self, path: str) -> None:
        self._loaded, self._function = _signature(path)
        taken = self._function.structured_input_signature[1]
        self.name = path
        self.envcheck_form = "dict"
        self.envcheck_specs = tuple(
            Spec(name=name, shape=tuple(spec.shape), dtype=spec.dtype.name)
            for name, spec in sorted(taken.items())
        )
        self.output_names = sorted(self._function.structured_outputs)

    def __call__(self, inputs: Mapping[str, Any], training: bool = False) -> list[Any]:  # noqa: ARG002
        """Run the signature and return its outputs in the order of their names."""
        found = self._function(**inputs)
        return [found[name] for name in self.output_names]


class _Candidate(Whole):
    """Inputs and outputs alone: a SavedModel gives nothing in between by name."""

    name = NAME

    def __init__(self, path: str) -> None:
        self._reference = _Reference(path)
        self.inputs = tuple(
            Feed(name=s.name, dtype=s.dtype, shape=s.shape) for s in self._reference.envcheck_specs
        )
        shapes = self._reference._function.structured_outputs
        self.outputs = tuple(
            Feed(name=name, dtype=shapes[name].dtype.name, shape=())
            for name in self._reference.output_names
        )

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Return the outputs in order."""
        import tensorflow as tf

        try:
            tensors = {name: tf.convert_to_tensor(value) for name, value in feeds.items()}
            return [value.numpy() for value in self._reference(tensors)]
        except Exception as problem:
            raise Failure("run", f"{type(problem).__name__}: {problem}") from problem

    def run_all(self, feeds: Mapping[str, Array], store: Store) -> Partial:
        """Put inputs and outputs into the store."""
        try:
            values = self.run(feeds)
        except Failure as failure:
            return Partial(failure=failure)
        for name, value in feeds.items():
            store.put(name, value)
        for feed, value in zip(self.outputs, values, strict=True):
            store.put(feed.name, value)
        return Partial()

    def tensors(self) -> list[Tensor]:
        """Return inputs and outputs."""
        found = [Tensor(name=feed.name, op="input", order=-2) for feed in self.inputs]
        return found + [Tensor(name=f.name, op="output", order=0) for f in self.outputs]

    def identity(self) -> dict[str, Any]:
        """Return the runtime and its version."""
        import tensorflow as tf

        return {"runtime": NAME, "version": tf.__version__}
