"""Whatever the bytes, the answer is facts or a reason."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place
from envcheck.artefacts.reading import Unreadable, Unsure
from tests.artefacts.test_recorded import DATA, EXPECTED

EXTENSIONS = [
    ".onnx", ".keras", ".h5", ".tflite", ".pkl", ".joblib", ".safetensors", ".pt", ".bin", "",
]  # fmt: skip
HEADS = [
    b"", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0", b"\x08\0\0\0TFL3", b"\x80\x04",
    b"\x80\x02", b"\x1f\x8b\x08\0", b"x\x9c", b"BZh9", b"\x08\x08:", b"\x10\0\0\0\0\0\0\0{",
]  # fmt: skip
FILES = sorted(name for name in EXPECTED if (DATA / name).is_file())
GRAPHS = sorted(name for name in EXPECTED if (DATA / name).is_dir())


def described(name: str, data: bytes) -> Any:
    """Return the facts of these bytes, or None where they give a reason."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        place = path.parent if path.name == "saved_model.pb" else path
        try:
            facts = describe(Place(str(place)))
        except (Unreadable, Unsure):
            return None
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    return facts


@st.composite
def damaged(draw: st.DrawFn, names: list[str], inner: str = "") -> tuple[str, bytes]:
    """Return a recorded artefact with some bytes replaced, put in, or taken out."""
    name = draw(st.sampled_from(names))
    data = bytearray((DATA / name / inner).read_bytes())
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        count = draw(st.integers(0, 16))
        data[at : at + count] = draw(
            st.one_of(
                st.binary(max_size=16),
                st.sampled_from([b"\xff" * 9, b"\xff\xff\xff\x7f", b"\0" * 8, b"(" * 8, b"["]),
            )
        )
    return name, bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@given(st.sampled_from(EXTENSIONS), st.sampled_from(HEADS), st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_bytes(extension: str, head: bytes, tail: bytes) -> None:
    """Bytes that begin like some format, under any name, give facts or a reason."""
    described(f"model{extension}", head + tail)


@given(damaged(FILES))
@settings(max_examples=300, deadline=None)
def test_any_damage(artefact: tuple[str, bytes]) -> None:
    """A recorded artefact with any damage gives facts or a reason."""
    described(*artefact)


@given(damaged(GRAPHS, "saved_model.pb"))
@settings(max_examples=60, deadline=None)
def test_any_damage_to_a_graph(artefact: tuple[str, bytes]) -> None:
    """A damaged saved_model.pb gives facts or a reason."""
    described("model/saved_model.pb", artefact[1])


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_the_same_bytes_give_the_same_facts(tail: bytes) -> None:
    """Reading twice gives the same answer."""
    data = b"\x80\x04" + tail

    assert described("model.pkl", data) == described("model.pkl", data)
