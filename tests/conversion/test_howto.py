"""The page about parity shows commands that work, in the order in which it shows them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import envcheck
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "how-to" / "parity.md").read_text("utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("envcheck ")
]


def test_every_verdict_is_explained() -> None:
    """The table holds the verdicts of the report's schema."""
    from envcheck.schemas import schema

    listed = {
        name.strip()
        for row in re.findall(r"^\| ([^|]+) \|", PAGE, re.MULTILINE)
        for name in row.split(",")
    }
    verdicts = schema("report")["properties"]["parity"]["properties"]["verdict"]["enum"]

    assert set(verdicts) == listed - {"verdict"}


def test_every_option_exists() -> None:
    """The options that the page mentions are those of the commands."""
    shown = envcheck("parity", "--help").stdout + envcheck("trace", "--help").stdout

    assert len(COMMANDS) >= 6
    for option in set(re.findall(r"--[a-z][a-z-]+", PAGE)):
        assert option in shown, option


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_commands_run(tmp_path: Path) -> None:
    """Run in order in one folder, each ends with exit code 0 on a clean conversion."""
    pytest.importorskip("tf2onnx", reason="needs the keras extra")
    import numpy as np

    from benchmarks.parity.rounds import convert_here
    from benchmarks.parity.zoo import build
    from envcheck.conversion.inputs import specs_of

    model = build("cnn")
    model.save(tmp_path / "model.keras")
    convert_here(model, str(tmp_path / "model.onnx"))
    shape = (3, *model.input_shape[1:])
    drawn: Any = np.random.default_rng(0).standard_normal(shape).astype("float32")
    np.savez(tmp_path / "samples.npz", **{specs_of(model)[0][0].name: drawn})
    for command in COMMANDS:
        done = envcheck(*shlex.split(command)[1:], cwd=tmp_path)

        assert done.returncode == 0, command + done.stdout + done.stderr
        assert "Traceback" not in done.stderr
