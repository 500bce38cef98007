"""The samples of a comparison: the user's own, or invented from what the model says it takes."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envcheck.conversion.arrays import plain
from envcheck.errors import InputError, MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.conversion.arrays import Array

__all__ = ["Samples", "Spec", "given", "read_inputs", "specs_of"]

MOST_ROWS = 4
"""Samples of the user that are used: a few show a fault as well as many."""


_UNREADABLE = (
    OSError, ValueError, EOFError, KeyError, MemoryError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What numpy raises for files that are damaged, hostile, or something else."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One input of the reference: its name, shape (None: any size) and dtype name."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.name}: {self.dtype} ({sizes})"


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Input values in the model's order. `form` is how it takes them: single, list or dict.

    `origin` is given or invented, `note` says which values were invented.
    """

    names: tuple[str, ...]
    values: tuple[Array, ...]
    form: str
    origin: str
    note: str = ""

    def packed(self, values: tuple[Any, ...] | None = None) -> Any:
        """Return the values as the model takes them."""
        chosen = self.values if values is None else values
        if self.form == "single":
            return chosen[0]
        return dict(zip(self.names, chosen, strict=True)) if self.form == "dict" else list(chosen)

    @property
    def sha256(self) -> str:
        """The digest over names, types, shapes and values."""
        digest = hashlib.sha256()
        for name, value in zip(self.names, self.values, strict=True):
            digest.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
            words = value.dtype.hasobject
            digest.update(repr(value.tolist()).encode() if words else value.tobytes())
        return digest.hexdigest()


def specs_of(model: Any) -> tuple[tuple[Spec, ...], str]:
    """Return the inputs of a Keras model and the form in which it takes them; () if not known."""
    struct = getattr(model, "_inputs_struct", None)
    functional = getattr(model, "_functional", None)
    if struct is None and functional is not None:
        struct = getattr(functional, "_inputs_struct", None)
    if struct is None:
        return (), "single"
    if isinstance(struct, dict):
        names = sorted(struct)
        return tuple(_spec(struct[name], str(name)) for name in names), "dict"
    if isinstance(struct, list | tuple):
        return tuple(_spec(tensor, f"input_{i}") for i, tensor in enumerate(struct)), "list"
    return (_spec(struct, "input"),), "single"


def _spec(tensor: Any, name: str) -> Spec:
    shape = tuple(None if size is None else int(size) for size in tensor.shape)
    history = getattr(tensor, "_keras_history", None)
    layer = getattr(history, "operation", None)
    own = str(getattr(layer, "name", "") or getattr(tensor, "name", "") or name)
    chosen = own if name.startswith("input") else name
    return Spec(name=chosen, shape=shape, dtype=str(tensor.dtype))


def read_inputs(path: str) -> dict[str, Array]:
    """Return the arrays of an `.npz` or `.npy` file; a single array has an empty name."""
    try:
        import numpy as np
    except ImportError as problem:
        raise MissingExtra("numpy", "onnx", "reading input samples") from problem
    if not os.path.exists(path):
        raise InputError("does not exist", place=path)
    try:
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": loaded}
            with loaded:
                return {name: loaded[name] for name in loaded.files}
    except _UNREADABLE as problem:
        raise InputError(
            f"cannot be read as .npz or .npy: {problem}", place=path,
            hint="numpy.savez('samples.npz', name=array) writes one",
        ) from problem  # fmt: skip


def given(values: Any, specs: tuple[Spec, ...], form: str, place: str = "inputs") -> Samples:
    """Return the user's samples, checked against what the model takes. Raises InputError."""
    named = _named(values, specs, place)
    if not specs:
        specs = tuple(
            Spec(name=name, shape=(None, *array.shape[1:]), dtype=str(array.dtype))
            for name, array in named.items()
        )
        form = "single" if len(specs) == 1 else ("dict" if isinstance(values, dict) else "list")
    _check_names(named, specs, place)
    rows = {array.shape[0] if array.ndim else 1 for array in named.values()}
    if len(rows) > 1:
        raise InputError(f"inputs have different numbers of samples: {sorted(rows)}", place=place)
    checked = tuple(_checked(named[spec.name], spec, place) for spec in specs)
    return Samples(
        names=tuple(spec.name for spec in specs), values=checked, form=form, origin="given"
    )


def _named(values: Any, specs: tuple[Spec, ...], place: str) -> dict[str, Array]:
    if isinstance(values, dict):
        named = {str(name): plain(value) for name, value in values.items()}
        if len(named) == 1 and len(specs) == 1 and next(iter(named)) in ("", "arr_0"):
            return {specs[0].name: next(iter(named.values()))}
        if set(named) == {f"arr_{i}" for i in range(len(specs))} and specs:
            return {spec.name: named[f"arr_{i}"] for i, spec in enumerate(specs)}
        return named
    arrays = list(values) if isinstance(values, list | tuple) and len(specs) != 1 else [values]
    if specs and len(arrays) != len(specs):
        raise InputError(
            f"{len(arrays)} inputs given, the model takes {len(specs)}", place=place,
            hint="; ".join(map(str, specs)),
        )  # fmt: skip
    names = [spec.name for spec in specs] or [f"input_{i}" for i in range(len(arrays))]
    return {name: plain(array) for name, array in zip(names, arrays, strict=True)}


def _check_names(named: Mapping[str, Array], specs: tuple[Spec, ...], place: str) -> None:
    wanted, seen = [spec.name for spec in specs], list(named)
    missing, extra = set(wanted) - set(seen), set(seen) - set(wanted)
    if missing or extra:
        words = [f"lacks {', '.join(sorted(missing))}"] if missing else []
        words += [f"has {', '.join(sorted(extra))}, which the model does not take"] if extra else []
        hint = f"it takes {'; '.join(map(str, specs))}"
        raise InputError("; ".join(words), place=place, hint=hint)


def _checked(array: Array, spec: Spec, place: str) -> Array:
    import numpy as np

    where, takes = f"{place}: {spec.name}", f"the model takes {spec}"
    if array.ndim != len(spec.shape) or any(
        wanted not in (None, seen)
        for seen, wanted in list(zip(array.shape, spec.shape, strict=True))[1:]
    ):
        raise InputError(f"has shape {array.shape}", place=where, hint=takes)
    if array.size == 0:
        raise InputError("holds no samples", place=where)
    fixed = spec.shape[0] if spec.shape else None
    array = array[: fixed or MOST_ROWS] if array.ndim else array
    if fixed is not None and array.shape[0] != fixed:
        raise InputError(f"has {array.shape[0]} samples", place=where, hint=f"it takes {spec}")
    if spec.dtype == "string":
        if array.dtype.kind not in "OSU":
            raise InputError(f"has dtype {array.dtype}", place=where, hint=takes)
        return array.astype(object)
    if array.dtype.kind in "OSU" or (array.dtype.kind == "f" and np.dtype(spec.dtype).kind in "iu"):
        raise InputError(f"has dtype {array.dtype}", place=where, hint=takes)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(
            "holds NaN, with which nothing can be compared", place=where,
            hint="leave out the samples that hold it",
        )  # fmt: skip
    return array.astype(spec.dtype)


def require_specs(specs: tuple[Spec, ...]) -> None:
    """Raise where inputs cannot be invented."""
    if not specs:
        raise UsageError(
            "the model does not say what inputs it takes (a subclassed model)",
            hint="give samples with --inputs samples.npz",
        )
