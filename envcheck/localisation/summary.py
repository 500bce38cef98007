"""What a report says about a run: the script, its models and fits, how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.localisation.training_log import TrainingLog

__all__ = ["about_run"]


def about_run(log: TrainingLog) -> dict[str, Any]:
    """Return the script with what was seen of it, for the head of a report."""
    program = log.program
    return {
        "place": program.get("script"),
        "kind": "training",
        "created": (log.data.get("envelope") or {}).get("created"),
        "tool": (log.data.get("envelope") or {}).get("tool"),
        "keras": program.get("keras"),
        "backend": program.get("backend"),
        "exit_code": program.get("exit_code"),
        "interrupted": program.get("interrupted"),
        "exception": (program.get("exception") or {}).get("type"),
        "models": len(log.models),
        "fits": len(log.fits),
        "epochs": sum(int(fit.get("epochs_run") or 0) for fit in log.fits),
        "steps": sum(int(fit.get("steps") or 0) for fit in log.fits),
        "seconds": program.get("seconds"),
    }
