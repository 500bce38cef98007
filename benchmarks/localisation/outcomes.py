"""Run programs under `envcheck localise` and judge the reports by what was planted."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.localisation.edits import Edit, edited, lines_of

__all__ = ["Outcome", "judged", "localise", "wilson"]

_QUIET = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
_LIMIT = 300


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run of one program gave."""

    title: str
    seed: int
    faulty: bool
    error: str = ""
    """Why there is no report."""
    errors: int = 0
    warnings: int = 0
    undetermined: int = 0
    first: str = ""
    """Rule and title of the first finding above info."""
    found: bool = False
    """Whether any finding above info has the planted category."""
    cause_first: bool = False
    line_right: bool = False
    """Whether the first finding of the planted category points at a planted line."""
    loud: tuple[str, ...] = ()
    """Rules of all findings above info."""

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON data."""
        return asdict(self)


def localise(text: str, name: str, seed: int) -> dict[str, Any]:
    """Return the report about a program; raises RuntimeError with the message of envcheck."""
    with tempfile.TemporaryDirectory() as folder:
        script, report = Path(folder) / f"{name}.py", Path(folder) / "report.json"
        script.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "envcheck", "localise", "--json", str(report)]
        done = subprocess.run(
            [*command, script.name, str(seed)],
            cwd=folder,
            env={**os.environ, **_QUIET},
            capture_output=True,
            text=True,
            timeout=_LIMIT,
            check=False,
        )
        if not report.is_file():
            raise RuntimeError(f"exit {done.returncode}: {done.stderr[-300:]}")
        data: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return data


def judged(edit: Edit, seed: int) -> Outcome:
    """Run an edited program with a seed and judge the report."""
    faulty = bool(edit.categories)
    try:
        report = localise(edited(edit), edit.program, seed)
    except (RuntimeError, subprocess.TimeoutExpired) as problem:
        return Outcome(title=edit.title, seed=seed, faulty=faulty, error=str(problem)[:400])
    loud = [item for item in report["findings"] if item["severity"] != "info"]
    loud = [item for item in loud if not item["waived"]]
    right = [item for item in loud if item["category"] in edit.categories]
    place = right[0]["location"]["line"] if right else None
    return Outcome(
        title=edit.title,
        seed=seed,
        faulty=faulty,
        errors=sum(item["severity"] == "error" for item in loud),
        warnings=sum(item["severity"] == "warning" for item in loud),
        undetermined=len(report["undetermined"]),
        first=f"{loud[0]['rule']} {loud[0]['title']}" if loud else "",
        found=bool(right),
        cause_first=bool(loud) and loud[0]["category"] in edit.categories,
        line_right=place in lines_of(edit) if right else False,
        loud=tuple(item["rule"] for item in loud),
    )


def wilson(hits: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval (95 %) of a share, as Wilson (1927) gives it."""
    if runs == 0:
        return 0.0, 1.0
    share = hits / runs
    centre = share + z * z / (2 * runs)
    half = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
