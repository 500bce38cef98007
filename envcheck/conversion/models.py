"""Load the reference model without running code that it carries, unless that is allowed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from envcheck.errors import EnvcheckError, InputError, MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["describe_file", "has_custom_classes", "import_keras", "import_modules", "load_keras"]

_LOADABLE = ("keras", "hdf5")
_ALLOW = "if you trust whoever made it, --allow-code lets the code in the file run on this machine"
_IMPORT = "--import FILE_OR_MODULE loads the module that registers it"


def import_keras() -> Any:
    """Return keras, with TensorFlow's start-up chatter off. Raises MissingExtra."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        with _quiet():
            import keras
            import tensorflow as tf  # noqa: F401 - the backend whose operations are recorded
    except ImportError as problem:
        name = getattr(problem, "name", None) or "tensorflow"
        raise MissingExtra(name, "keras", "running a Keras model") from problem
    if keras.backend.backend() != "tensorflow":
        raise EnvcheckError(
            f"Keras runs on {keras.backend.backend()} here, and layers are recorded on TensorFlow",
            hint="set KERAS_BACKEND=tensorflow",
        )
    return keras


def has_custom_classes() -> bool:
    """Return whether this process has registered classes that a child would not know."""
    keras = sys.modules.get("keras")
    return keras is not None and bool(keras.saving.get_custom_objects())


@contextmanager
def _quiet() -> Iterator[None]:
    """Drop what native code writes to stderr meanwhile, before its own logging is set up."""
    if "tensorflow" in sys.modules:
        yield
        return
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    hole = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(hole, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(hole)


def describe_file(path: str) -> dict[str, Any]:
    """Return what a model file says about itself, without loading it. Raises InputError."""
    from envcheck.artefacts.describing import describe
    from envcheck.artefacts.files import Place
    from envcheck.artefacts.reading import Unreadable, Unsure

    if not os.path.exists(path):
        raise InputError("does not exist", place=path)
    try:
        return describe(Place(path))
    except (Unreadable, Unsure) as problem:
        raise InputError(str(problem), place=path) from problem


def import_modules(names: Sequence[str]) -> None:
    """Import the user's modules, by file or by dotted name, so that they register their classes."""
    if names:
        import_keras()
    for name in names:
        try:
            if name.endswith(".py") or os.path.isfile(name):
                _import_file(name)
            else:
                if os.getcwd() not in sys.path:
                    sys.path.insert(0, os.getcwd())
                importlib.import_module(name)
        except Exception as problem:
            raise UsageError(
                f"cannot be imported: {type(problem).__name__}: {problem}", place=name
            ) from problem


def _import_file(path: str) -> None:
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise ImportError("no such Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def load_keras(path: str, *, allow_code: bool = False) -> Any:
    """Return the Keras model in a `.keras` or `.h5` file. Raises InputError."""
    facts = describe_file(path)
    _refuse(path, facts, allow_code=allow_code)
    keras = import_keras()
    try:
        return keras.saving.load_model(path, compile=False, safe_mode=not allow_code)
    except Exception as problem:
        raise _not_loaded(path, problem) from problem


def _refuse(path: str, facts: dict[str, Any], *, allow_code: bool) -> None:
    """Raise for a file that is no Keras model, or whose code may not run."""
    kind = facts.get("format", "unknown")
    if kind not in _LOADABLE:
        raise InputError(
            f"is {'of no known format' if kind == 'unknown' else f'a file of format {kind}'},"
            " not a Keras model",
            place=path,
            hint="the reference is a .keras or .h5 file; the candidate comes second",
        )
    if facts.get("weights_only"):
        hint = "model.save() writes both"
        raise InputError("holds weights without the model", place=path, hint=hint)
    layers = facts.get("lambda_layers") or []
    if layers and not allow_code:
        raise InputError(
            f"carries Python code in Lambda layers ({', '.join(layers[:5])}), which loading runs",
            place=path,
            hint=_ALLOW,
        )


def _not_loaded(path: str, problem: Exception) -> InputError:
    text = str(problem)
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    missing = re.search(r"Could not locate (?:class|function) '([^']+)'", text)
    if missing:
        what = f"needs the custom class or function {missing[1]}, which is not known here"
        return InputError(what, place=path, hint=_IMPORT)
    if "Could not locate" in text or "Unknown layer" in text or "unknown" in text[:200].lower():
        return InputError(f"needs a class not known here: {first}", place=path, hint=_IMPORT)
    if "safe_mode" in text or "unsafe" in text.lower() or "lambda" in text.lower():
        return InputError(f"carries Python code: {first}", place=path, hint=_ALLOW)
    return InputError(f"cannot be loaded: {type(problem).__name__}: {first}", place=path)
