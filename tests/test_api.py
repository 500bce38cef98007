"""The public Python interface: lazy, silent, and the same as the commands."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import envcheck
from envcheck.facts import ok
from tests.cli.running import PROGRAM
from tests.cli.running import envcheck as command

if TYPE_CHECKING:
    from pathlib import Path

SIDE = envcheck.Fingerprint(
    {"os.system": ok("linux"), "package.numpy": ok({"version": "2.0.0"})}, {"role": "train"}
)


def test_import_costs_nothing() -> None:
    """`import envcheck` loads no module of ours beside the package."""
    code = "import sys, envcheck; print(*[n for n in sys.modules if n.startswith('envcheck')])"
    preamble = PROGRAM[-1].partition("import envcheck")[0]
    done = subprocess.run(
        [sys.executable, "-B", "-c", preamble + code], capture_output=True, text=True, timeout=60
    )

    assert done.stdout.split() == ["envcheck"]


def test_names() -> None:
    """Every public name resolves, is listed, and nothing else is."""
    assert set(envcheck.__all__) <= set(dir(envcheck))
    assert all(getattr(envcheck, name) is not None for name in envcheck.__all__)
    with pytest.raises(AttributeError, match="no attribute 'captur'"):
        _ = envcheck.captur


def test_functions_are_silent(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The functions print nothing, whatever they find."""
    here = envcheck.capture(role="deploy", files=[tmp_path])
    envcheck.compare(SIDE, here)
    envcheck.schema("report")
    with pytest.raises(envcheck.InputError):
        envcheck.compare(SIDE, tmp_path / "none.json")

    assert capfd.readouterr() == ("", "")


def test_capture() -> None:
    """`capture` returns what the command writes."""
    here = envcheck.capture(role="train")
    document = json.loads(command("capture", "--role", "train").stdout)

    assert here.role == "train"
    assert set(here.envelope) == set(document["envelope"])
    assert here.fact("python.version").value == document["facts"]["python.version"]["value"]
    assert here.fact("os.system").value == document["facts"]["os.system"]["value"]


def test_capture_refuses_nonsense() -> None:
    """Wrong arguments are usage errors."""
    with pytest.raises(envcheck.UsageError, match="neither train nor deploy"):
        envcheck.capture(role="both")
    with pytest.raises(envcheck.UsageError, match="exclude each other"):
        envcheck.capture(python=sys.executable, root="/")


def test_compare_takes_paths_and_fingerprints(tmp_path: Path) -> None:
    """A side is a path as text or object, or a fingerprint; the report is the same."""
    path = tmp_path / "train.json"
    SIDE.write(str(path))
    reports = [envcheck.compare(side, SIDE) for side in (str(path), path)]

    assert reports[0] == reports[1]
    assert reports[0].verdict == "conforms"
    assert reports[0].inputs["train"]["place"] == str(path)
    assert envcheck.compare(SIDE, SIDE).count("error") == 0


def test_compare_live() -> None:
    """`live` is this interpreter, now; a file of that name is meant by its path."""
    report = envcheck.compare("live", "live")

    assert report.verdict == "conforms"
    assert report.count("warning") == 0
    assert report.inputs["deploy"]["place"] == "live"


def test_compare_refuses_nonsense() -> None:
    """Standard input is one side at most, and a side without facts is never a pass."""
    with pytest.raises(envcheck.UsageError, match="can be read once"):
        envcheck.compare("-", "-")
    with pytest.raises(envcheck.NothingChecked) as caught:
        envcheck.compare(SIDE, envcheck.Fingerprint({}))
    assert caught.value.exit_code == 3


def test_schema_refuses_nonsense() -> None:
    """Only schemas that exist can be asked for."""
    with pytest.raises(envcheck.UsageError, match="no schema 'x'"):
        envcheck.schema("x")
