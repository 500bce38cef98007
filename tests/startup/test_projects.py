"""A start judges by the project's policy as `envcheck compare` does, and a seal knows by which."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.startup.box import Box, events, started

SOON = datetime.now(UTC).date() + timedelta(days=30)
WAIVERS = "".join(
    f'[[waivers]]\nrule = "{rule}"\nreason = "served as ONNX"\nexpires = {SOON}\n'
    for rule in ("ENV050", "ENV052")
)
"""Accepts what is said about a missing numpy: that it is gone, and that others need it."""
READERS = (
    "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection",
)  # fmt: skip
"""What reads configuration files."""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """Return a released environment that can read configuration files."""
    made = Box(tmp_path_factory.mktemp("box"))
    made.lend(*READERS)
    made.release()
    return made


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """Return an environment that lost numpy after training: two errors."""
    made = Box(tmp_path_factory.mktemp("lacking"))
    made.lend(*READERS)
    made.release()
    made.remove("numpy")
    (made.site / "tool" / "__init__.py").write_text("VALUE = 2\n")
    assert rules_of(made.execute("--train", made.train)) == ["ENV050", "ENV052"]
    return made


def write(path: Path, text: str) -> Path:
    """Write a file."""
    path.write_text(text)
    return path


def rules_of(done: Any) -> list[str]:
    """Return the rules that were logged as findings."""
    return [item["rule"] for item in events(done) if item["event"] == "finding"]


def test_the_nearest_file_counts(lacking: Box, tmp_path: Path) -> None:
    """A waiver in envcheck.toml or pyproject.toml lets the application start, and is logged."""
    write(tmp_path / "envcheck.toml", WAIVERS)
    done = lacking.execute("--train", lacking.train, cwd=tmp_path)
    assert (done.returncode, started(done)) == (0, True), done.stderr
    (judged,) = [item for item in events(done) if item["event"] == "judged"]
    assert judged["file"] == "envcheck.toml"

    (tmp_path / "envcheck.toml").unlink()
    assert lacking.execute("--train", lacking.train, cwd=tmp_path).returncode == 1
    write(tmp_path / "pyproject.toml", WAIVERS.replace("[[waivers]]", "[[tool.envcheck.waivers]]"))
    assert lacking.execute("--train", lacking.train, cwd=tmp_path).returncode == 0


def test_options_and_variables_count(lacking: Box, tmp_path: Path) -> None:
    """Waivers, baseline and configuration by option or by variable, each as for `compare`."""
    waivers = write(tmp_path / "accepted.toml", WAIVERS)
    config = write(tmp_path / "other.toml", 'waivers = "accepted.toml"\n')
    baseline = tmp_path / "baseline.json"
    made = lacking.run("compare", lacking.train, "live", "--write-baseline", baseline)
    assert baseline.exists(), made.stderr
    for name, path in (("waivers", waivers), ("config", config), ("baseline", baseline)):
        by_option = lacking.execute("--train", lacking.train, f"--{name}", path)
        named = {f"ENVCHECK_{name.upper()}": str(path)}
        by_variable = lacking.execute("--train", lacking.train, environ=named)
        compared = lacking.run("compare", lacking.train, "live", f"--{name}", path)
        codes = [done.returncode for done in (by_option, by_variable, compared)]
        assert codes == [0, 0, 0], (name, by_option.stderr)


def test_a_profile_adds_its_rules(box: Box) -> None:
    """A profile's own findings are those of `compare` under the same profile."""
    asked = "--profile", "onnx-serving"
    done = box.execute("--train", box.train, *asked)
    by_variable = box.execute("--train", box.train, environ={"ENVCHECK_PROFILE": asked[1]})
    compared = box.run("compare", box.train, "live", *asked, "--format", "json")
    wanted = [item["rule"] for item in json.loads(compared.stdout)["findings"]]

    assert done.returncode == by_variable.returncode == compared.returncode == 1
    assert rules_of(done) == rules_of(by_variable) == wanted
    assert rules_of(box.execute("--train", box.train)) == []


def test_fail_on(lacking: Box, tmp_path: Path) -> None:
    """`--fail-on never` logs the errors and starts; `warning` stops at a warning."""
    done = lacking.execute("--train", lacking.train, "--fail-on", "never")
    assert (done.returncode, started(done)) == (0, True)
    assert rules_of(done) == ["ENV050", "ENV052"]
    assert events(done)[-1]["verdict"] == "conforms"

    soft = '[policy.severity]\nENV050 = "warning"\nENV052 = "warning"\n'
    options = ["--train", lacking.train, "--config", write(tmp_path / "soft.toml", soft)]
    assert lacking.execute(*options).returncode == 0
    assert lacking.execute(*options, "--fail-on", "warning").returncode == 1
    in_file = write(tmp_path / "strict.toml", f'fail-on = "warning"\n{soft}')
    assert lacking.execute("--train", lacking.train, "--config", in_file).returncode == 1


def test_a_broken_policy_file_follows_the_start_policy(box: Box, tmp_path: Path) -> None:
    """A wrong configuration stops a closed start with 2, and an open one is told and starts."""
    config = write(tmp_path / "wrong.toml", "polcy = 1\n")
    for policy, code in (("closed", 2), ("warn", 2), ("open", 0)):
        done = box.execute("--train", box.train, "--config", config, "--policy", policy)
        assert (done.returncode, started(done)) == (code, code == 0), done.stderr
        assert [item for item in events(done) if item["event"] == "problem"]


def test_a_policy_that_is_none_counts_as_closed(box: Box, tmp_path: Path) -> None:
    """A misspelt policy stops the start, and says so where Kubernetes looks for it."""
    log = tmp_path / "termination-log"
    log.touch()
    named = {"ENVCHECK_POLICY": "opne", "ENVCHECK_TERMINATION_LOG": str(log)}
    done = box.execute(*box.sealed, environ=named)

    assert (done.returncode, started(done)) == (2, False)
    assert [item["event"] for item in events(done)] == ["problem", "verdict"]
    assert "ENVCHECK_POLICY: 'opne'" in log.read_text()


@pytest.mark.parametrize("name", ["ENVCHECK_PROFLE", "ENVCHECK_BUDGET"])
def test_a_wrong_variable_follows_the_start_policy(box: Box, name: str) -> None:
    """A misspelt variable or a bad number is told even on the short way, and open starts."""
    closed = box.execute(*box.sealed, environ={name: "soon"})
    assert (closed.returncode, started(closed)) == (2, False)
    opened = box.execute(*box.sealed, environ={name: "soon", "ENVCHECK_POLICY": "open"})
    assert (opened.returncode, started(opened)) == (0, True)
    found = [item["event"] for item in events(opened)]
    assert found == ["policy-loosened", "problem", "verdict"]


def test_a_seal_is_for_its_policy(box: Box, tmp_path: Path) -> None:
    """What is stated as at release keeps the short way, by content; another policy runs rules."""
    config, seal = write(tmp_path / "a.toml", 'profile = "bit-exact"\n'), tmp_path / "seal.json"
    made = box.run("compare", box.train, "live", "--config", config, "--seal", seal)
    assert made.returncode == 0, made.stderr

    def how(*options: object) -> str:
        done = box.execute("--train", box.train, "--seal", seal, *options)
        assert done.returncode == 0, done.stderr
        return str(events(done)[-1]["how"])

    moved = write(tmp_path / "moved.toml", config.read_text())
    assert how() == "sealed"
    assert how("--config", config) == how("--config", moved) == "sealed"
    assert how("--profile", "bit-exact") == how("--fail-on", "error") == "sealed"
    assert how("--profile", "default") == how("--strict") == "rules"
    write(moved, "")
    assert how("--config", moved) == "rules"


def test_a_part_is_not_forgotten(lacking: Box) -> None:
    """Under `warn` a finding does not keep the files from being checked; closed says it did."""
    options = ["--train", lacking.train, "--files", "--policy"]
    warned = lacking.execute(*options, "warn")
    assert warned.returncode == 0
    assert [item for item in events(warned) if item["event"] == "file"]

    closed = lacking.execute(*options, "closed")
    assert closed.returncode == 1
    (skipped,) = [item for item in events(closed) if item["event"] == "not-checked"]
    assert skipped["what"] == "files"


def test_the_graph_takes_the_policy(lacking: Box, tmp_path: Path) -> None:
    """`envcheck kg explain` knows a finding under the policy that `compare` has."""
    config = write(tmp_path / "off.toml", '[policy]\ndisable = ["ENV050"]\n')
    asked = ["kg", "explain", "ENV050", lacking.train, "live"]
    assert lacking.run(*asked).returncode == 0
    assert lacking.run(*asked, "--config", config).returncode == 2
