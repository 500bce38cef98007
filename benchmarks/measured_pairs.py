"""What envcheck says about models that were really carried from one environment to another.

Each pair is two captures of environments that were built, and a model that was written in the
first and loaded in the second; `tests/rules/measured/measure.py` made them and noted what happened.
A model that crashed or gave other numbers must be an error that names the cause first. One that
gave the same numbers must not be an error.

    python benchmarks/measured_pairs.py
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from envcheck.comparing.compare import compare_fingerprints  # noqa: E402
from envcheck.findings import Finding, Report  # noqa: E402
from envcheck.fingerprint import Fingerprint  # noqa: E402
from envcheck.fingerprint.reading import read_fingerprint  # noqa: E402
from envcheck.rulebook.cases import patched  # noqa: E402

FOLDER = ROOT / "tests" / "rules" / "measured"
HARMLESS = ("exact", "close")
NAMED, OTHER, MISSED = "named", "another cause first", "missed"
QUIET, WARNED, FALSE = "quiet", "warned", "false alarm"
RIGHT = (NAMED, QUIET, WARNED)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A model, its two environments, and what happened."""

    writer: str
    reader: str
    kind: str
    happened: str
    """exact, close (within 1e-6), moved, crash at load, or crash at prediction."""
    seen: str = ""
    """The message of a crash."""
    difference: float = 0.0
    """The largest difference of outputs."""
    cause: str = ""
    """The distribution to which the message points, where the model broke."""

    def __str__(self) -> str:
        """Return what a message calls it."""
        return f"{self.kind}: {self.writer} to {self.reader}"

    @property
    def is_harmless(self) -> bool:
        """Whether the reader gave what the writer gave."""
        return self.happened in HARMLESS


def pairs() -> list[Pair]:
    """Return all pairs."""
    return [Pair(**entry) for entry in json.loads((FOLDER / "pairs.json").read_text("utf-8"))]


@cache
def _models() -> dict[str, Any]:
    return dict(json.loads((FOLDER / "models.json").read_text("utf-8")))


@cache
def _environment(name: str) -> Fingerprint:
    return read_fingerprint(str(FOLDER / "environments" / f"{name}.json"))


def fingerprints(pair: Pair) -> tuple[Fingerprint, Fingerprint]:
    """Return both sides of a pair, with the model in both."""
    model = _models()[f"{pair.writer}/{pair.kind}"]
    return patched(_environment(pair.writer), model), patched(_environment(pair.reader), model)


def report(pair: Pair) -> Report:
    """Return what envcheck says."""
    return compare_fingerprints(*fingerprints(pair))


def names(finding: Finding, cause: str) -> bool:
    """Return whether a finding is about the cause, or about the model and speaks of the cause."""
    if finding.subject == f"package.{cause}":
        return True
    said = f"{finding.title} {finding.detail} {finding.fix.command}".lower().replace(" ", "-")
    return finding.subject.startswith("model.") and cause in said


def verdict(pair: Pair, found: Report) -> str:
    """Return how what envcheck says fits what happened."""
    loud = Counter(finding.severity for finding in found.findings if not finding.waived)
    if pair.is_harmless:
        return FALSE if loud["error"] else WARNED if loud["warning"] else QUIET
    if not loud["error"]:
        return MISSED
    return NAMED if names(found.findings[0], pair.cause) else OTHER


def rows(judged: list[tuple[Pair, str]]) -> Iterator[str]:
    """Yield the figures as rows of a table."""
    broken = [how for pair, how in judged if not pair.is_harmless]
    harmless = [how for pair, how in judged if pair.is_harmless]
    yield _row("broken models that are an error", broken, (NAMED, OTHER))
    yield _row("of all broken models, the cause is named first", broken, (NAMED,))
    yield _row("unchanged models without an error", harmless, (QUIET, WARNED))
    yield _row("of all unchanged models, without a warning either", harmless, (QUIET,))


def _row(name: str, hows: list[str], good: tuple[str, ...]) -> str:
    right = sum(how in good for how in hows)
    return f"| {name} | {right} of {len(hows)} | {100 * right / len(hows):.1f} % |"


def main() -> int:
    """Print the figures and each disagreement."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="print every pair")
    options = parser.parse_args()
    judged = [(pair, report(pair)) for pair in pairs()]
    hows = [(pair, verdict(pair, found)) for pair, found in judged]
    sides = {name for pair, _ in hows for name in (pair.writer, pair.reader)}
    print(f"{len(hows)} models between {len(sides)} environments:\n")
    print("| | pairs | share |\n|---|---|---|")
    print(*rows(hows), sep="\n")
    print("\n| model | from | to | happened | envcheck | first finding |")
    print("|---|---|---|---|---|---|")
    for (pair, how), (_, found) in zip(hows, judged, strict=True):
        if options.all or how not in RIGHT:
            first = next((item for item in found.findings if item.severity != "info"), None)
            said = f"{first.rule} {first.subject}" if first else "–"
            ends = f"{pair.kind} | {pair.writer} | {pair.reader} | {pair.happened}"
            print(f"| {ends} | {how} | {said} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
