"""Hand input samples to a child process, as files."""

from __future__ import annotations

import os
from typing import Any

from envcheck.errors import UsageError

__all__ = ["read_handed", "write_inputs"]


def write_inputs(inputs: Any, folder: str) -> dict[str, Any] | None:
    """Write samples (a path, an array, a list or a dict of arrays) and return how to read them.

    Raises UsageError for what is no array.
    """
    if inputs is None:
        return None
    if isinstance(inputs, str | os.PathLike):
        return {"form": "path", "path": os.fspath(inputs)}
    import numpy as np

    if isinstance(inputs, dict):
        form, names, values = "dict", [str(name) for name in inputs], list(inputs.values())
    elif isinstance(inputs, list | tuple):
        form, values = "list", list(inputs)
        names = [str(place) for place in range(len(values))]
    else:
        form, names, values = "array", ["0"], [inputs]
    path = os.path.join(folder, "inputs.npz")
    arrays = {f"a{place}": _storable(value) for place, value in enumerate(values)}
    np.savez(path, **arrays)
    return {"form": form, "path": path, "names": names}


def _storable(value: Any) -> Any:
    from envcheck.conversion.arrays import plain

    array = plain(value)
    if array.dtype != object:
        return array
    items = array.ravel().tolist()
    if all(isinstance(item, str) for item in items):
        return array.astype(str)
    if all(isinstance(item, bytes) for item in items):
        return array.astype(bytes)
    raise UsageError(
        "inputs are arrays of numbers or of text", hint="all rows of an input have one shape"
    )


def read_handed(handed: dict[str, Any] | None) -> Any:
    """Return samples as they were given to the parent."""
    if handed is None or handed["form"] == "path":
        return None if handed is None else handed["path"]
    import numpy as np

    with np.load(handed["path"], allow_pickle=False) as file:
        values = [_as_given(file[f"a{place}"]) for place in range(len(handed["names"]))]
    if handed["form"] == "dict":
        return dict(zip(handed["names"], values, strict=True))
    return values if handed["form"] == "list" else values[0]


def _as_given(value: Any) -> Any:
    return value.astype(object) if value.dtype.kind in "SU" else value
