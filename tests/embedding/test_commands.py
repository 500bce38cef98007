"""`envcheck embed` and `envcheck extract` as processes."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import envcheck, only_message
from tests.embedding.test_embedding import TRAIN, copied


def test_there_and_back(tmp_path: Path) -> None:
    """What was embedded comes out byte for byte, on stdout or in a file."""
    model = copied("plain.onnx", tmp_path)
    TRAIN.write(str(tmp_path / "train.json"))
    done = envcheck("embed", model, "train.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"the fingerprint lies in {model}\n"

    assert envcheck("extract", model).stdout == TRAIN.to_text()
    assert envcheck("extract", model, "-o", "out.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out.json").read_text() == TRAIN.to_text()
    assert envcheck("compare", model, "train.json", cwd=tmp_path).returncode == 0


def test_beside_and_from_standard_input(tmp_path: Path) -> None:
    """`--beside` leaves the model alone, and `-` reads a fingerprint from a pipe."""
    model = copied("plain.onnx", tmp_path)
    before = model.read_bytes()
    done = envcheck("embed", "--beside", model, "-", input=TRAIN.to_text())

    assert done.returncode == 0, done.stderr
    assert done.stderr == f"the fingerprint lies beside the model, in {model}.envcheck.json\n"
    assert model.read_bytes() == before
    assert envcheck("extract", model).stdout == TRAIN.to_text()


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    """A model without a fingerprint, a missing model and a wrong fingerprint are one message."""
    model = copied("plain.onnx", tmp_path)

    assert "carries no fingerprint" in only_message(envcheck("extract", model))
    assert "does not exist" in only_message(envcheck("extract", tmp_path / "none.onnx"))
    (tmp_path / "bad.json").write_text("{}")
    assert 'no "schema"' in only_message(envcheck("embed", model, tmp_path / "bad.json"))
