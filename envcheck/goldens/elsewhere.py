"""Run a model in another process, under settings that a runtime reads when it is loaded."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

from envcheck.errors import EnvcheckError
from envcheck.goldens.document import read_arrays
from envcheck.goldens.engines import RunFailed, open_engine, run_whole
from envcheck.goldens.processes import command_for

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["main", "run_elsewhere"]

_LONGEST = 600
"""Seconds after which the process is given up."""


def run_elsewhere(path: str, feeds: Mapping[str, Any], changes: Mapping[str, str]) -> list[Any]:
    """Return what a model gives in a process with other variables. Raises RunFailed."""
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="envcheck-") as folder:
        names = list(feeds)
        np.savez(
            os.path.join(folder, "in.npz"),
            **{f"i{number}": feeds[name] for number, name in enumerate(names)},
        )
        order = {"model": path, "folder": folder, "names": names}
        try:
            subprocess.run(
                command_for(__name__, order), env={**os.environ, **changes}, check=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                timeout=_LONGEST,
            )  # fmt: skip
            found = read_arrays(os.path.join(folder, "out.npz"))
        except (OSError, subprocess.SubprocessError, EnvcheckError) as problem:
            raise RunFailed("run", str(problem)) from problem
    return [found[f"o{number}"] for number in range(len(found))]


def main(order: dict[str, Any]) -> None:
    """Run the model of an order on the arrays in its folder, and leave its outputs there."""
    import numpy as np

    arrays = read_arrays(os.path.join(order["folder"], "in.npz"))
    feeds = {name: arrays[f"i{number}"] for number, name in enumerate(order["names"])}
    found = run_whole(open_engine(order["model"]), feeds)
    np.savez(
        os.path.join(order["folder"], "out.npz"),
        **{f"o{number}": value for number, value in enumerate(found)},
    )
