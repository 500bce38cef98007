"""Reading cases: patches, bases, and what is said of a file that holds none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.errors import RuleError
from envcheck.facts import not_applicable, ok, unknown
from envcheck.fingerprint import Fingerprint
from envcheck.rulebook.cases import patched, read_cases

if TYPE_CHECKING:
    from pathlib import Path

BASE = Fingerprint(
    {
        "os.system": ok("linux"),
        "package.numpy": ok({"version": "1.26.4", "tag": "cp311-cp311-linux_x86_64"}),
        "gpu.driver": not_applicable("no sign of one"),
    },
    {"role": "train"},
)
GOOD = {"rule": "ACME1", "name": "one", "expect": "fires", "base": "small"}


@pytest.mark.parametrize(
    ("patch", "key", "expected"),
    [
        ({"os.system": None}, "os.system", None),
        ({"os.system": {"value": "darwin"}}, "os.system", ok("darwin")),
        (
            {"os.system": {"state": "unknown", "reason": "masked"}},
            "os.system",
            unknown("masked"),
        ),
        (
            {"package.numpy": {"value": {"version": "2.1.0"}}},
            "package.numpy",
            ok({"version": "2.1.0", "tag": "cp311-cp311-linux_x86_64"}),
        ),
        (
            {"package.numpy": {"value": {"tag": None}}},
            "package.numpy",
            ok({"version": "1.26.4"}),
        ),
        ({"gpu.driver": {"value": "550.54"}}, "gpu.driver", ok("550.54")),
        ({"package.x": {"value": {"version": "1"}}}, "package.x", ok({"version": "1"})),
    ],
)
def test_a_patch(patch: dict[str, Any], key: str, expected: object) -> None:
    """Null takes a fact out, a state replaces it, a value replaces or is merged in."""
    assert patched(BASE, patch).facts.get(key) == expected


def test_a_patch_leaves_the_base_alone() -> None:
    """Other facts and the envelope stay, and the base is not changed."""
    before = dict(BASE.facts)
    changed = patched(BASE, {"os.system": {"value": "darwin"}})

    assert BASE.facts == before
    assert changed.envelope == BASE.envelope
    assert {key for key in before if changed.facts[key] != before[key]} == {"os.system"}


@pytest.mark.parametrize("change", ["darwin", {"reason": "x"}, {"state": "odd"}, 3])
def test_a_bad_patch(change: object) -> None:
    """Anything else is refused by the name of its key."""
    with pytest.raises(ValueError, match=r"os\.system"):
        patched(BASE, {"os.system": change})


def test_a_folder(tmp_path: Path) -> None:
    """The cases of a folder come with both sides built."""
    write(tmp_path, [{**GOOD, "deploy": {"os.system": None}, "first": True}])
    (case,) = read_cases(tmp_path)

    assert str(case) == "ACME1 fires: one"
    assert case.first
    assert case.changed == {"train": (), "deploy": ("os.system",)}
    assert "os.system" in case.pair.train.facts
    assert "os.system" not in case.pair.deploy.facts


def test_a_folder_without_cases(tmp_path: Path) -> None:
    """Cases are optional."""
    assert read_cases(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ("{}", "no list of cases"),
        ("[3]", "case 1: is no object"),
        (json.dumps([{**GOOD, "expct": 1}]), "unknown field 'expct'"),
        (json.dumps([{**GOOD, "name": 1}]), "'name' is of the wrong type"),
        (json.dumps([{**GOOD, "expect": "burns"}]), "expects 'burns'"),
        (json.dumps([{"rule": "ACME1"}]), "has no 'name'"),
        (json.dumps([GOOD, {**GOOD, "base": "tall"}]), r"case 2: its base tall\.train\.json"),
        (json.dumps([{**GOOD, "train": {"os.system": 3}}]), r"os\.system: neither"),
    ],
)
def test_a_bad_file(tmp_path: Path, content: str, message: str) -> None:
    """The message has the file, the number of the case, and what is wrong with it."""
    write(tmp_path, [])
    (tmp_path / "cases" / "odd.json").write_text(content, "utf-8")

    with pytest.raises(RuleError, match=message) as caught:
        read_cases(tmp_path)
    assert "odd.json" in caught.value.place


def test_a_base_that_is_no_fingerprint(tmp_path: Path) -> None:
    """The message names the case and passes on what is wrong with the base."""
    write(tmp_path, [GOOD])
    (tmp_path / "cases" / "base" / "small.deploy.json").write_text("[]", "utf-8")

    with pytest.raises(RuleError, match="its base is no fingerprint"):
        read_cases(tmp_path)


def write(folder: Path, cases: list[dict[str, Any]]) -> None:
    """Write cases and a base pair."""
    base = folder / "cases" / "base"
    base.mkdir(parents=True)
    for side in ("train", "deploy"):
        BASE.write(str(base / f"small.{side}.json"))
    (folder / "cases" / "small.json").write_text(json.dumps(cases), "utf-8")
