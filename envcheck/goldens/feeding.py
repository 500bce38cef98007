"""Where the inputs of a golden come from: a file, the user's preprocessing, or a fixed seed."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError, UsageError
from envcheck.goldens.engines import RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envcheck.goldens.engines import Spec

__all__ = ["invented", "load_entry", "matched", "prepared"]

_SEED = 20_240_229
_FREE_SIZE = 16
"""Of a dimension that may have any size, the first aside."""
_MOST_TOKEN = 10


def invented(specs: tuple[Spec, ...], samples: int) -> dict[str, Any]:
    """Return inputs drawn from a fixed seed: floats from 0 to 1, small integers, booleans.

    They fit the signature and mean nothing: they show whether two runtimes compute the same,
    not whether the model is right.
    """
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(_SEED))
    out = {}
    for spec in specs:
        first = samples if not spec.shape or spec.shape[0] is None else spec.shape[0]
        rest = [size or _FREE_SIZE for size in spec.shape[1:]]
        shape = (first, *rest) if spec.shape else ()
        if spec.dtype == "bool":
            out[spec.name] = generator.random(shape) < 0.5
        elif spec.dtype.startswith(("int", "uint")):
            out[spec.name] = generator.integers(0, _MOST_TOKEN, shape).astype(spec.dtype)
        elif spec.dtype.startswith("float"):
            out[spec.name] = generator.random(shape).astype(spec.dtype)
        else:
            raise InputError(
                f"input {spec.name} takes {spec.dtype}, which cannot be invented",
                hint="give inputs: envcheck golden record MODEL --inputs FILE.npz",
            )
    return out


def matched(specs: tuple[Spec, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return given arrays under the names of the model: by name, else by order.

    Raises RunFailed where number, shape or type do not fit.
    """
    if {spec.name for spec in specs} == set(given):
        pairs = [(spec, given[spec.name]) for spec in specs]
    elif len(specs) == len(given):
        pairs = list(zip(specs, given.values(), strict=True))
    else:
        wanted = ", ".join(spec.name for spec in specs)
        raise RunFailed("interface", f"takes {wanted}; there are {', '.join(given) or 'none'}")
    return {spec.name: _fitting(spec, value) for spec, value in pairs}


def _fitting(spec: Spec, value: Any) -> Any:
    import numpy as np

    sizes = [(want, have) for want, have in zip(spec.shape[1:], value.shape[1:], strict=False)]
    if len(spec.shape) != value.ndim or any(w not in (None, h) for w, h in sizes):
        shape = [size or "any" for size in spec.shape]
        raise RunFailed(
            "interface", f"input {spec.name} takes shape {shape}, not {list(value.shape)}"
        )
    if str(value.dtype) == spec.dtype or spec.dtype in ("str", "string"):
        return value
    if not np.can_cast(value.dtype, spec.dtype, "same_kind"):
        raise RunFailed("interface", f"input {spec.name} takes {spec.dtype}, not {value.dtype}")
    return value.astype(spec.dtype)


def load_entry(name: str) -> Callable[[dict[str, Any]], Any]:
    """Return the function that `module:function` names; the current folder is searched, too.

    Raises UsageError. This runs the user's code, so only a name that the user gave comes here.
    """
    module, colon, function = name.partition(":")
    hint = "name a function as module:function, importable from the current folder"
    if not (module and colon and function):
        raise UsageError(f"--entry {name!r} is not of the form module:function", hint=hint)
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in function.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as problem:
        raise UsageError(f"--entry {name}: {problem}", hint=hint) from problem
    if not callable(found):
        raise UsageError(f"--entry {name} is no function", hint=hint)
    entry: Callable[[dict[str, Any]], Any] = found
    return entry


def prepared(entry: Callable[[dict[str, Any]], Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user's preprocessing makes of raw inputs, by name. Raises RunFailed.

    It may return a mapping, a list or tuple in the model's order, or one array.
    """
    import numpy as np

    try:
        found = entry(dict(raw))
    except Exception as problem:
        raise RunFailed("preprocessing", f"{type(problem).__name__}: {problem}") from problem
    if isinstance(found, dict):
        return {str(name): np.asarray(value) for name, value in found.items()}
    values = list(found) if isinstance(found, (list, tuple)) else [found]
    return {f"input {number}": np.asarray(value) for number, value in enumerate(values)}
