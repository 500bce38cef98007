"""Digests of layers: as far apart as the layers are, and enough to name the first that drifts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envcheck.errors import InputError
from tests.cli.running import envcheck
from tests.goldens.test_files import npy

np = pytest.importorskip("numpy")


def seen(value: Any) -> Any:
    """Return the digest of an array."""
    from envcheck.goldens.layers import digest

    return digest("a", "Layer", value)


@pytest.mark.parametrize("size", [1, 7, 100, 70_000, (1 << 20) + 5])
@pytest.mark.parametrize("error", [1e-6, 1e-2, 0.5])
def test_the_distance_is_that_of_the_arrays(size: int, error: float) -> None:
    """The estimate is within four standard deviations of the true relative error."""
    from envcheck.goldens.layers import WIDTH, error_between

    generator = np.random.default_rng(size)
    base = generator.normal(size=size)
    near = base + error * generator.normal(size=size)
    true = np.linalg.norm(near - base) / np.linalg.norm(base)
    estimate = error_between(seen(near), seen(base))

    assert estimate == pytest.approx(true, rel=4 / np.sqrt(2 * WIDTH))
    assert error_between(seen(base.copy()), seen(base)) == 0


def test_one_element_of_a_million_is_seen() -> None:
    """A change in one place cannot hide: it is in one of the sums, whatever its sign."""
    from envcheck.goldens.layers import error_between

    base = np.ones(1_000_000, "float32")
    other = base.copy()
    other[123_456] = 1.5

    assert error_between(seen(other), seen(base)) == pytest.approx(0.5 / 1000, rel=1e-6)


def test_order_counts() -> None:
    """The same numbers in another order are another layer."""
    from envcheck.goldens.layers import error_between

    base = np.random.default_rng(2).normal(size=(40, 50))

    assert error_between(seen(base.T.copy()), seen(base)) == pytest.approx(np.sqrt(2), rel=0.4)


def test_the_sketch_is_the_same_everywhere() -> None:
    """The places and signs are SplitMix64 (S. Vigna), whose first numbers are published."""
    from envcheck.goldens.layers import _mixed

    # The reference implementation seeded with 0 gives these; its state grows by the same constant.
    assert [int(number) for number in _mixed(np.arange(3, dtype=np.uint64))] == [
        0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F,
    ]  # fmt: skip


def test_holes_and_what_has_no_fractions() -> None:
    """Another number of infinities is infinitely far; integers and text have no digest."""
    from envcheck.goldens.layers import error_between

    base = np.array([1.0, np.nan, 3.0])
    assert error_between(seen(base), seen(base)) == 0
    assert error_between(seen(np.array([1.0, 2.0, 3.0])), seen(base)) == float("inf")
    assert error_between(seen(np.ones(4)), seen(base)) == float("inf")
    assert seen(np.array([1, 2])) is None
    assert seen(np.array(["a"])) is None
    assert seen(np.zeros((0, 3))) is None


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Return a golden with layers, of the classifier beside it."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from tests.goldens.test_replay import classifier, weights

    model = classifier(tmp_path / "model.onnx", weights())
    done = envcheck("golden", "record", model, "--layers", "-o", tmp_path / "a.golden")
    assert done.returncode == 0, done.stderr
    assert "digests of " in done.stderr
    return tmp_path / "a.golden"


def test_the_first_layer_is_named(recorded: Path) -> None:
    """A wrong second weight leaves the first product alone, and is told by its name."""
    import envcheck as product
    from tests.goldens.test_replay import classifier, weights

    wrong = weights()
    wrong["w2"][3, 2] += np.float32(0.5)
    other = classifier(recorded.with_name("other.onnx"), wrong)
    result = product.replay_golden(other, recorded)

    assert result.verdict == "drift"
    assert result.first is not None
    assert result.first.name == "w2"
    assert result.figures()["layer"] == "w2"
    done = envcheck("golden", "replay", other, "--golden", recorded)
    assert "first layer that drifts: w2 " in done.stdout


def test_an_inner_product_is_named(recorded: Path, tmp_path: Path) -> None:
    """With the weights alike, the layer that computes something else is the first."""
    import envcheck as product

    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(tmp_path / "model.onnx"))
    (relu,) = [node for node in model.graph.node if node.op_type == "Relu"]
    relu.op_type = "LeakyRelu"
    onnx.save(model, str(tmp_path / "leaky.onnx"))
    result = product.replay_golden(tmp_path / "leaky.onnx", recorded)

    assert result.first is not None
    assert result.first.name == "r"
    assert "first in layer r (" in result.summary


def test_other_names_are_told(recorded: Path, tmp_path: Path) -> None:
    """A model whose tensors have other names drifts, and that no layer can be named is said."""
    import envcheck as product

    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(tmp_path / "model.onnx"))
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [name if name in "xy" else f"{name}_renamed" for name in names]
    for item in model.graph.initializer:
        item.name += "_renamed"
    changed = onnx.numpy_helper.to_array(model.graph.initializer[1]).copy()
    changed[0, 0] += 1
    model.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(changed, "w2_renamed"))
    onnx.save(model, str(tmp_path / "renamed.onnx"))
    result = product.replay_golden(tmp_path / "renamed.onnx", recorded)

    assert result.verdict == "drift"
    assert any("have the same name" in note for note in result.notes), result.notes


def test_no_layers_unless_asked(tmp_path: Path) -> None:
    """A plain recording holds none, and replays without a word on them."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    import envcheck as product
    from tests.goldens.test_replay import classifier, weights

    model = classifier(tmp_path / "model.onnx", weights())
    assert product.record_golden(model, tmp_path / "a.golden").layers == ()
    result = product.replay_golden(
        classifier(tmp_path / "b.onnx", weights(2)), tmp_path / "a.golden"
    )
    assert (result.verdict, result.first) == ("drift", None)
    assert not any("layer" in note for note in result.notes)


@pytest.mark.parametrize("what", ["shape", "nan", "missing", "size", "kind"])
def test_hostile_layers(what: str, tmp_path: Path) -> None:
    """Digests that do not fit what is said of them are one InputError."""
    import json
    import zipfile

    from envcheck.goldens.document import Golden, Output, read_golden, write_golden

    value = np.arange(6, dtype="float32").reshape(2, 3)
    path = tmp_path / "evil.golden"
    output = Output("y", value, {"repeated": 0.0})
    write_golden(str(path), Golden({"x": value}, (output,), {}, {}, (seen(value),)))
    assert read_golden(str(path)).layers[0].norm == pytest.approx(np.sqrt(55))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(members["golden.json"])
    if what == "shape":
        members["layers.npy"] = npy(np.zeros((2, 64)))
    elif what == "nan":
        members["layers.npy"] = npy(np.full((1, 64), np.nan))
    elif what == "missing":
        del members["layers.npy"]
    elif what == "size":
        index["layers"][0]["size"] = 0
    else:
        index["layers"] = [1]
    members["golden.json"] = json.dumps(index).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)

    with pytest.raises(InputError):
        read_golden(str(path))
