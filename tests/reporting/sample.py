"""One report that has everything a format must show."""

from __future__ import annotations

from typing import Any

from envcheck.findings import Evidence, Finding, Fix, Location, Outcome, Report

__all__ = ["finding", "report"]


def finding(**changes: Any) -> Finding:
    """Return a finding, with some of its members changed."""
    members: dict[str, Any] = {
        "rank": 1,
        "rule": "ENV031",
        "fault": "older-reader-than-writer",
        "category": "library",
        "component": "deployment",
        "severity": "error",
        "confidence": 0.98,
        "basis": "declared",
        "title": "scikit-learn 1.3.2 reads a pickle written by 1.5.2",
        "detail": "A pickle holds the private classes of the version that wrote it. The older"
        " version lacks some of them, so loading fails, or the model predicts something else"
        " without saying so.",
        "fix": Fix(
            text="Install the version that trained on the deploy side.",
            command="python -m pip install 'scikit-learn==1.5.2'",
        ),
        "subject": "package.scikit-learn",
        "train": "1.5.2",
        "deploy": "1.3.2",
        "location": Location(file="deploy.json", line=39),
        "related": (Location(file="train.json", line=41),),
        "evidence": (
            Evidence(fact="package.scikit-learn", origin="train", value="1.5.2"),
            Evidence(fact="package.scikit-learn", origin="deploy", value="1.3.2"),
        ),
        "because": ("train has scikit-learn 1.5.2", "deploy has scikit-learn 1.3.2, older"),
        "guards": ("the artefact is no pickle: not known",),
    }
    return Finding(**{**members, **changes})


def report(**changes: Any) -> Report:
    """Return a report with errors, consequences, warnings, infos, waivers and open questions."""
    members: dict[str, Any] = {
        "findings": _findings(),
        "undetermined": (
            Outcome(
                rule="ENV050",
                title="the driver serves the CUDA of the build",
                subject="gpu.driver",
                severity="error",
                reason="deploy: /proc/driver/nvidia/version is not readable",
            ),
        ),
        "rules": {"pass": 78, "finding": 6, "not_applicable": 3, "unknown": 1},
        "inputs": {
            "train": _side("train.json", "train", "3.11.7", "glibc 2.36", 58),
            "deploy": _side("deploy.json", "deploy", "3.10.13", "musl 1.2.4", 41),
        },
        "notes": ("no model was given, so every package counts as used",),
    }
    return Report(**{**members, **changes})


def _side(place: str, role: str, python: str, libc: str, packages: int) -> dict[str, Any]:
    return {
        "place": place,
        "role": role,
        "created": "2026-11-30T12:00:00Z",
        "tool": "envcheck 0.1.0",
        "implementation": "cpython",
        "python": python,
        "system": "linux",
        "architecture": "x86_64",
        "libc": libc,
        "packages": packages,
        "kind": "installed",
    }


def _findings() -> tuple[Finding, ...]:
    root = finding()
    consequence = finding(
        rank=2,
        rule="ENV040",
        fault="requirement-broken",
        title="imbalanced-learn 0.12.4 needs scikit-learn>=1.5, 1.3.2 is installed",
        subject="package.imbalanced-learn",
        explained_by="ENV031 package.scikit-learn",
    )
    warning = finding(
        rank=3,
        rule="ENV070",
        fault="threads-above-quota",
        category="resource",
        severity="warning",
        basis="inferred",
        title="OpenMP starts 32 threads under a limit of 2 CPUs",
        detail="The threads take turns, and predictions get slower than with two.",
        fix=Fix(text="Set the number of threads.", command="export OMP_NUM_THREADS=2"),
        subject="limits.cpu_quota",
        train=None,
        deploy=2.0,
        related=(),
    )
    harmless = tuple(
        finding(
            rank=rank,
            rule="ENV020",
            fault="patch-difference",
            severity="info",
            title=f"{name} {train} became {deploy}",
            subject=f"package.{name}",
            train=train,
            deploy=deploy,
        )
        for rank, (name, train, deploy) in enumerate(
            [("certifi", "2024.7.4", "2024.8.30"), ("idna", "3.7", "3.8")], 4
        )
    )
    waived = finding(
        rank=6, rule="ENV060", title="another time zone", waived="logs are in UTC either way"
    )
    return (root, consequence, warning, *harmless, waived)
