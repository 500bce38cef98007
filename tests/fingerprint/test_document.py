"""The canonical file form, the digest, and writing."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envcheck.facts import not_applicable, ok, unknown
from envcheck.fingerprint import Fingerprint
from envcheck.fingerprint.document import _MARK, write_atomically
from envcheck.fingerprint.reading import parse_fingerprint
from tests.strategies import fingerprints

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Fingerprint(
    {
        "os.libc_family": unknown("not readable"),
        "cpu.architecture": ok("x86_64"),
        "gpu.driver": not_applicable(),
        "package.numpy": ok({"version": "2.0.0", "requires": []}, source="METADATA"),
    },
    {"created": "2026-11-30T12:00:00Z", "role": "train"},
)
CANONICAL = """\
{
  "schema": "envcheck.fingerprint/1",
  "envelope": {"created": "2026-11-30T12:00:00Z", "role": "train"},
  "facts": {
    "cpu.architecture": {"state": "ok", "value": "x86_64"},
    "gpu.driver": {"state": "not_applicable"},
    "os.libc_family": {"reason": "not readable", "state": "unknown"},
    "package.numpy": {"source": "METADATA", "state": "ok", \
"value": {"requires": [], "version": "2.0.0"}}
  }
}
"""


def test_one_fact_per_line() -> None:
    """Keys are sorted, each fact has its own line, and empty members are left out."""
    assert SMALL.to_text() == CANONICAL


@settings(max_examples=200, deadline=None)
@given(fingerprints())
def test_round_trip(fingerprint: Fingerprint) -> None:
    """Reading what was written and writing it again gives the same bytes and the same facts."""
    text = fingerprint.to_text()
    again = parse_fingerprint(text.encode("ascii"), "x.json")

    assert again.to_text() == text
    assert again.facts == fingerprint.facts
    assert again.digest == fingerprint.digest
    assert json.loads(text) == fingerprint.to_json()


@settings(max_examples=50, deadline=None)
@given(fingerprints())
def test_lines(fingerprint: Fingerprint) -> None:
    """`line_of` gives the line on which the fact stands, written or read."""
    text = fingerprint.to_text()
    lines = text.split("\n")
    again = parse_fingerprint(text.encode("ascii"), "x.json")

    for key in fingerprint.facts:
        number = fingerprint.line_of(key)
        assert number is not None
        assert lines[number - 1].startswith(f"    {json.dumps(key)}: {{")
        assert again.line_of(key) == number
    assert fingerprint.line_of("no.such") is None


def test_lines_of_a_reformatted_file() -> None:
    """A file that was indented by another program still gives its real lines."""
    text = json.dumps(SMALL.to_json(), indent=4)
    again = parse_fingerprint(text.encode(), "x.json")

    line = again.line_of("os.libc_family")
    assert line is not None
    assert '"os.libc_family"' in text.split("\n")[line - 1]


def test_lines_of_no_file() -> None:
    """Facts that were captured from a place that is no file have no line."""
    assert Fingerprint(SMALL.facts, place="live").line_of("cpu.architecture") is None


def test_digest_is_about_facts() -> None:
    """The envelope takes no part in the digest; every fact does."""
    other = Fingerprint(SMALL.facts, {"role": "deploy"})
    changed = Fingerprint({**SMALL.facts, "cpu.architecture": ok("aarch64")})

    assert other.digest == SMALL.digest
    assert changed.digest != SMALL.digest


def test_fact_that_was_never_captured_is_unknown() -> None:
    """Asking for a missing key gives an unknown fact with a reason."""
    assert SMALL.fact("cpu.level").state == "unknown"
    assert SMALL.fact("cpu.level").reason
    assert set(SMALL.family("package")) == {"numpy"}


def test_write_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full the old file stays as it was, and nothing else is left."""
    path = tmp_path / "x.json"
    path.write_text("old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(str(path), "new")

    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.json"]


def test_write_keeps_mode_and_link(tmp_path: Path) -> None:
    """An existing file keeps its mode, and a link still points where it did."""
    path, link = tmp_path / "x.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)

    write_atomically(str(link), "new")

    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_write_takes_long_names(tmp_path: Path) -> None:
    """A name as long as the file system allows can be written."""
    path = tmp_path / ("x" * 250 + ".json")

    SMALL.write(str(path))

    assert path.read_text() == CANONICAL


@given(st.lists(st.recursive(st.sampled_from(["a", _MARK, f'"{_MARK}"', 1, None]), st.lists)))
def test_each_fact_is_written_as_if_alone(values: list[Any]) -> None:
    """Writing all facts in one go changes nothing, even where one holds the mark between them."""
    facts = {f"a.{number:03}": ok(value) for number, value in enumerate(values)}

    text = Fingerprint(facts).to_text()

    for key, fact in facts.items():
        assert f"    {json.dumps(key)}: {json.dumps(fact.to_json(), sort_keys=True)}" in text
    assert json.loads(text)["facts"] == {key: fact.to_json() for key, fact in facts.items()}
