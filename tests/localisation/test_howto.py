"""The page about training shows code that works."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("keras")
pytestmark = pytest.mark.slow

_PAGE = (ROOT / "docs" / "how-to" / "training.md").read_text("utf-8")
_BLOCKS = re.findall(r"```py\n(.*?)```", _PAGE, re.DOTALL)
_PROGRAM = """
import sys
import keras
import numpy as np
x_train = np.random.default_rng(0).normal(size=(200, 3))
y_train = x_train[:, 0] > 0
x_test, y_test = x_train[:40] + 0.1, y_train[:40]
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
"""


def test_there_are_two_blocks() -> None:
    """One starts a script, the other is a callback."""
    assert len(_BLOCKS) == 2


def test_the_function(tmp_path: Path) -> None:
    """The script is run with its arguments, and the verdict is printed."""
    fit = "model.fit(x_train, y_train, epochs=int(sys.argv[2]), verbose=0)\n"
    (tmp_path / "train.py").write_text(_PROGRAM + fit, encoding="utf-8")
    done = _python(_BLOCKS[0], tmp_path)

    assert done.stdout.split() == ["conforms"], done.stderr
    assert (tmp_path / "training.json").is_file()


def test_the_callback(tmp_path: Path) -> None:
    """The callback writes the log that the page names."""
    done = _python(_PROGRAM + _BLOCKS[1], tmp_path)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "training.json").is_file()


def _python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300
    )
