"""Record the training logs that the cases of the training rules start from.

    python -m tests.rules.make_training_bases [NAME …]

Runs the programs of `training_bases/` in an interpreter that has TensorFlow and Keras, and
writes their logs, thinned to a few probes and six digits, below `rules/training/cases/base/`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "rules" / "training_bases"
TARGET = ROOT / "rules" / "training" / "cases" / "base"


def main() -> int:
    """Record the named programs, or all of them."""
    names = sys.argv[1:] or sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py"))
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in names:
        log = thinned(record(name))
        text = json.dumps(log, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
        (TARGET / f"{name}.log.json").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(text) // 1024} KiB\n")
    return 0


def record(name: str) -> Any:
    """Return the log of one program."""
    from envcheck.localisation.recording.launching import BOOTSTRAP

    quiet = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.json"
        command = [sys.executable, "-c", BOOTSTRAP, str(ROOT), str(path), f"{name}.py"]
        subprocess.run(
            command,
            cwd=PROGRAMS,
            env={**os.environ, **quiet},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return json.loads(path.read_text(encoding="utf-8"))


def thinned(log: Any) -> Any:
    """Return a log with at most four probes for each fit, and without what differs by run."""
    log["envelope"]["created"] = "2025-01-01T00:00:00Z"
    log["program"]["seconds"] = 10.0
    log["fingerprint"] = None
    for fit in log["fits"]:
        probes = fit["probes"]
        kept = {0, 1, len(probes) // 2, len(probes) - 1}
        fit["probes"] = [probe for index, probe in enumerate(probes) if index in kept]
        fit["arguments"] = _written(fit["arguments"])
    for model in log["models"]:
        for layer in model["layers"]:
            layer["arguments"] = _written(layer["arguments"])
            layer["chain"] = layer["chain"][:1]
    return _rounded(log)


def _written(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a program writes, and those that rules point at."""
    wanted = ("activation", "kernel_initializer", "learning_rate", "batch_size", "epochs")
    return {
        name: site
        for name, site in arguments.items()
        if site and (not site.get("default") or name in wanted)
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return {k: _rounded(v) for k, v in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    raise SystemExit(main())
