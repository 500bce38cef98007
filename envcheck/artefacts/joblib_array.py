"""The arrays in a joblib file: raw bytes right after the BUILD opcode of their wrapper.

As joblib 1.x writes them (`joblib.numpy_pickle.NumpyArrayWrapper`): one byte with the length
of a padding and the padding where the wrapper has an alignment, then the bytes of the array;
an array of objects is a whole pickle instead.
"""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.pickle_tokens import Built, is_from
from envcheck.artefacts.streams import Stream, TooLong

__all__ = ["array_bytes", "is_wrapper"]

_HAS_OBJECT = 0x01
"""NPY_ITEM_HASOBJECT in the flags of a pickled dtype."""


def is_wrapper(token: Any) -> bool:
    """Return whether a global is joblib's wrapper of an array that follows inline."""
    return is_from(token, "joblib.numpy_pickle", "NumpyArrayWrapper")


def array_bytes(state: Any, stream: Stream) -> int | None:
    """Return how many bytes the array has, its padding passed over; None for a pickle.

    Raises TooLong where that cannot be told, since what follows then cannot be found.
    """
    state = state if isinstance(state, dict) else {}
    dtype, shape = state.get("dtype"), state.get("shape")
    if not isinstance(dtype, Built) or not isinstance(shape, tuple):
        raise TooLong("an array is described in a way that joblib 1.x does not use")
    size, objects = _item(dtype)
    count = size
    for length in shape:
        if not isinstance(length, int) or length < 0:
            raise TooLong("an array has a shape that is no list of numbers")
        count *= length
    if objects:
        return None
    if isinstance(state.get("numpy_array_alignment_bytes"), int):
        stream.skip(stream.byte())
    return count


def _item(dtype: Built) -> tuple[int, bool]:
    """Return the size of one element and whether it holds Python objects."""
    code = dtype.args[0] if isinstance(dtype.args, tuple) and dtype.args else None
    state = dtype.state if isinstance(dtype.state, tuple) else ()
    flags = state[7] if len(state) > 7 and isinstance(state[7], int) else 0
    if not isinstance(code, str) or not code:
        raise TooLong("an array has an element type that is not known")
    kind, digits = code.lstrip("<>=|")[:1], code.lstrip("<>=|")[1:]
    if kind == "O" or flags & _HAS_OBJECT:
        return 0, True
    if not (digits.isascii() and digits.isdigit() and len(digits) < 12):
        raise TooLong(f"an array has elements of type {code}, whose size is not known")
    return int(digits) * (4 if kind == "U" else 1), False
