# ruff: noqa: E402 - the skip comes before what needs numpy
"""Causes read off weights and values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

np: Any = pytest.importorskip("numpy", reason="needs the onnx extra")

from envcheck.conversion.error_shapes import error_causes
from envcheck.conversion.weight_causes import weight_causes

GENERATOR = np.random.default_rng(3)


class Weight:
    """A weight as Keras shows it."""

    dtype = "float32"

    def __init__(self, path: str, value: Any) -> None:
        self.path = path
        self._value = value

    def numpy(self) -> Any:
        """Return the value."""
        return self._value


def layer(value: Any, kind: str = "Dense", name: str = "kernel") -> Any:
    """Return a layer with one weight."""
    return type(kind, (SimpleNamespace,), {})(name="it", weights=[Weight(f"it/{name}", value)])


KERNEL = GENERATOR.standard_normal((5, 8)).astype("float32")


def changed() -> Any:
    """Return the kernel with one element changed, transposed."""
    value = KERNEL.copy()
    value[2, 3] = 9
    return value.T


@pytest.mark.parametrize(
    ("held", "kind"),
    [
        (KERNEL, None),
        (KERNEL.T.copy(), None),
        (changed(), "weight-elements"),
        (KERNEL.astype("float16").astype("float32"), "weights-rounded"),
        (KERNEL * np.float32(1.05), "weights-scaled"),
        (np.zeros_like(KERNEL), "weights-zeroed"),
        (GENERATOR.standard_normal((5, 8)).astype("float32"), "weights-replaced"),
    ],
)
def test_weights(held: Any, kind: str | None) -> None:
    """Each change of a weight is told apart; a transposed weight is innocent."""
    causes = weight_causes([layer(KERNEL)], {"w": held})

    assert [cause.kind for cause in causes] == ([kind] if kind else [])


def test_the_changed_element_is_listed() -> None:
    """The place and both values of a changed element are told."""
    (cause,) = weight_causes([layer(KERNEL)], {"w": changed()})

    assert "[3, 2] is 9 instead of" in cause.text


def test_gate_order() -> None:
    """LSTM gates in the order of Keras, where ONNX has another, are told by their letters."""
    kernel = GENERATOR.standard_normal((3, 8)).astype("float32")
    blocks = np.split(kernel, 4, axis=1)
    wrong = np.concatenate([blocks[i].T for i in (0, 1, 2, 3)])[None]
    right = np.concatenate([blocks[i].T for i in (0, 3, 1, 2)])[None]
    lstm = layer(kernel, "LSTM")

    assert [c.kind for c in weight_causes([lstm], {"w": wrong})] == ["gate-order"]
    assert [c for c in weight_causes([lstm], {"w": right}) if c.kind == "gate-order"] == []


WANTED = GENERATOR.standard_normal((3, 8, 7, 4))


def bordered() -> Any:
    """Return values that differ at the rim alone."""
    value = WANTED.copy()
    value[:, 0] += 0.5
    return value


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        (-WANTED, "sign"),
        (WANTED * 1.7, "scale"),
        (WANTED + 0.3, "offset"),
        (1 / WANTED, "reciprocal"),
        (WANTED[:, ::-1], "direction"),
        (bordered(), "border"),
        (np.where(WANTED < 0, WANTED * 1.5 + 0.01, WANTED), "negative-side"),
        (np.minimum(WANTED, 0.5), "clipping"),
        (np.where(WANTED > 2, np.nan, WANTED), "non-finite"),
    ],
)
def test_error_shapes(seen: Any, kind: str) -> None:
    """Each shape of an error is told by what it looks like."""
    assert kind in [cause.kind for cause in error_causes(seen, WANTED, 1e-5)]
