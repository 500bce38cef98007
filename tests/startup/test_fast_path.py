"""What a sealed start loads and does, seen by an audit hook; and that old Pythons can do it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Interpreters
from tests.contract.test_bare import COSTLY, PREAMBLE, RUN, WATCH


@pytest.fixture(scope="module")
def release(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a train fingerprint and a seal of this interpreter, isolated."""
    folder = tmp_path_factory.mktemp("release")
    for arguments in (
        ["capture", "-q", "-o", str(folder / "train.json")],
        ["compare", str(folder / "train.json"), "live", "--seal", str(folder / "seal.json")],
    ):
        _watch(root, sys.executable, arguments)
    assert (folder / "seal.json").exists()
    return folder


def _watch(root: Path, python: str, arguments: list[str], *flags: str) -> dict[str, object]:
    code = WATCH + PREAMBLE.format(root=str(root)) + RUN.format(arguments=arguments)
    done = subprocess.run(
        [python, "-I", "-B", *flags, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, object] = json.loads(done.stderr.splitlines()[-1])
    report["log"] = done.stderr.splitlines()[:-1]
    return report


def _options(release: Path) -> list[str]:
    return ["selftest", "--train", str(release / "train.json"),
            "--seal", str(release / "seal.json")]  # fmt: skip


def test_a_sealed_start_does_next_to_nothing(root: Path, release: Path) -> None:
    """No process, no connection, no file written, no framework, no dependency, no rule engine."""
    seen = _watch(root, sys.executable, _options(release))
    modules = set(seen["modules"])  # type: ignore[call-overload]

    assert seen["code"] == 0
    assert '"event": "sealed"' in str(seen["log"])
    assert seen["seen"] == []
    assert modules & (COSTLY | {"packaging", "dataclasses", "zipfile"}) == set()
    assert not [name for name in modules if name.startswith(("envcheck.rules", "envcheck.reaso"))]


def test_rules_load_no_framework_and_start_nothing(root: Path, release: Path) -> None:
    """Without a seal the rules run, and still nothing is written, started or loaded for it."""
    seen = _watch(root, sys.executable, _options(release)[:3])
    modules = set(seen["modules"])  # type: ignore[call-overload]

    assert seen["code"] == 0
    assert seen["seen"] == []
    assert modules & COSTLY <= {"subprocess"}, "packaging.tags imports that one"


def test_an_old_python_confirms_a_seal(
    root: Path, release: Path, interpreters: Interpreters, tmp_path: Path
) -> None:
    """CPython 3.9 with the standard library alone confirms a seal, and judges nothing itself."""
    old = str(interpreters["3.9"])
    deploy, seal = tmp_path / "deploy.json", tmp_path / "seal.json"
    _watch(root, old, ["capture", "-q", "-o", str(deploy)], "-S")
    made = ["compare", str(deploy), str(deploy), "--seal", str(seal)]
    assert _watch(root, sys.executable, made)["code"] == 0

    options = ["selftest", "--train", str(deploy), "--seal", str(seal)]
    seen = _watch(root, old, options, "-S")
    assert (seen["code"], seen["seen"]) == (0, []), seen["log"]
    assert '"event": "sealed"' in str(seen["log"])
    judged = _watch(root, old, ["selftest", "--train", str(release / "train.json")], "-S")
    assert judged["code"] == 3
    assert "needs Python 3.11" in str(judged["log"])
