"""`envcheck compare` under a configuration, a profile, waivers and a baseline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT
from tests.policy.environments import DEPLOY, TRAIN

if TYPE_CHECKING:
    from pathlib import Path

WAIVERS = """\
[[waivers]]
rule = "ENV070"
reason = "the model holds no code"
expires = 2001-01-01
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two fingerprints, at the root of a repository."""
    (tmp_path / ".git").mkdir()
    for name, side in (("train", TRAIN), ("deploy", DEPLOY)):
        (tmp_path / f"{name}.json").write_text(side.to_text(), "utf-8")
    return tmp_path


def compare(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import envcheck\n"
        f"envcheck.__path__.append({str(ROOT)!r}); from envcheck.cli import main; sys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-c", code, "compare", "train.json", "deploy.json", *options],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def report(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the JSON report of a run."""
    return json.loads(done.stdout)


def test_the_nearest_file_counts(folder: Path) -> None:
    """Its options and its policy decide, and the report says so."""
    (folder / "envcheck.toml").write_text('format = "json"\n[policy.severity]\nENV070 = "error"\n')
    done = compare(folder)

    assert done.returncode == 1, done.stderr
    assert report(done)["counts"]["error"] == 1
    assert report(done)["notes"][0] == "judged by policy of envcheck.toml"


def test_variables_and_options_outweigh_it(folder: Path) -> None:
    """Exit code by `fail-on` of the file, the variable and the command line."""
    (folder / "envcheck.toml").write_text('fail-on = "warning"\n')

    assert compare(folder).returncode == 1
    assert compare(folder, ENVCHECK_FAIL_ON="never").returncode == 0
    assert compare(folder, "--fail-on", "warning", ENVCHECK_FAIL_ON="never").returncode == 1


@pytest.mark.parametrize(
    ("profile", "code"),
    [("default", 0), ("bit-exact", 1), ("onnx-serving", 1), ("gpu-required", 0), ("fl4deep", 1)],
)
def test_profiles(profile: str, code: int, folder: Path) -> None:
    """The same pair under each profile."""
    done = compare(folder, "--profile", profile, "--format", "json")

    assert done.returncode == code, done.stdout
    assert (f"judged by profile {profile}" in report(done)["notes"]) == (profile != "default")


def test_strict_of_the_file(folder: Path) -> None:
    """A GPU that is required and cannot be seen is undetermined under strict."""
    (folder / "envcheck.toml").write_text("strict = true\n[policy]\nrequire-gpu = true\n")

    assert compare(folder).returncode == 3


def test_waivers_of_a_file(folder: Path) -> None:
    """One that has expired is reported, and its finding counts."""
    (folder / "w.toml").write_text(WAIVERS)
    found = report(compare(folder, "--waivers", "w.toml", "--format", "json"))
    by_rule = {one["rule"]: one for one in found["findings"]}

    assert by_rule["ENV070"]["waived"] is None
    assert by_rule["ENV095"]["location"] == {
        **by_rule["ENV095"]["location"], "file": "w.toml", "line": 1,
    }  # fmt: skip


def test_a_baseline_is_written_and_read(folder: Path) -> None:
    """Written, everything is accepted; read again too; a new difference counts."""
    written = compare(folder, "--write-baseline", "b.json", "--fail-on", "warning")
    assert written.returncode == 0, written.stderr
    assert "wrote b.json" in written.stderr
    assert len(json.loads((folder / "b.json").read_text())["entries"]) == 4

    again = compare(folder, "--baseline", "b.json", "--fail-on", "warning", "--format", "json")
    assert again.returncode == 0
    assert report(again)["counts"]["waived"] == 4

    text = (folder / "deploy.json").read_text().replace('"3.4.0"', '"3.5.0"')
    (folder / "deploy.json").write_text(text)
    changed = compare(folder, "--baseline", "b.json", "--fail-on", "warning")
    assert changed.returncode == 1
    assert "ENV040" in changed.stdout
    assert compare(folder, "--baseline", "b.json", "--strict").returncode == 1


def test_the_baseline_of_the_file_may_be_written_first(folder: Path) -> None:
    """A configured baseline need not be there while it is written."""
    (folder / "envcheck.toml").write_text("baseline = 'b.json'\n")

    assert compare(folder).returncode == 2
    assert compare(folder, "--write-baseline", "b.json").returncode == 0
    assert compare(folder).returncode == 0


def test_mistakes_end_with_2_and_say_where(folder: Path) -> None:
    """Nothing on stdout, the place and the hint on stderr."""
    (folder / "envcheck.toml").write_text("\nstrct = true\n")
    done = compare(folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert "envcheck.toml:2: unknown key 'strct'" in done.stderr
    assert "did you mean strict?" in done.stderr


def test_a_baseline_is_no_stream(folder: Path) -> None:
    """Stdout carries the report."""
    done = compare(folder, "--write-baseline", "-")

    assert done.returncode == 2
    assert "names a file" in done.stderr
