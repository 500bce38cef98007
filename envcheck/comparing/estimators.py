"""Pickled estimators of scikit-learn against the release that reads them.

The file names its writer and its classes, so a break between two releases counts where it
concerns a class that is in the file, and only there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from envcheck.comparing.artefacts import Artefact
from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check
from envcheck.comparing.readers import Reader, file_check
from envcheck.comparing.tables import table
from envcheck.versions import compare_versions

__all__ = ["KINDS", "estimator_checks", "names_estimators"]

BREAK, MUCH_OLDER, OTHER, AGREES = (
    "estimatorBreak",
    "estimatorMuchOlder",
    "estimatorOther",
    "estimatorAgrees",
)
KINDS = (BREAK, MUCH_OLDER, OTHER, AGREES)
_OWN = ("sklearn.", "_loss.")
_SHOWS = {
    "load": "loading it fails",
    "call": "it loads, and the first prediction fails",
    "numbers": "it loads and computes other numbers without an error",
}


def names_estimators(artefact: Artefact) -> bool:
    """Return whether a pickle refers to scikit-learn."""
    return any(name.startswith(_OWN) for name in artefact.names("globals"))


def estimator_checks(artefact: Artefact, reader: Reader) -> Iterable[Check]:
    """Yield one check of each kind; at most one of them is a misfit."""
    package = reader.inventory.packages.get("scikit-learn")
    writers = artefact.names("sklearn_versions")
    if package is None or not writers:
        return
    sources = (reader.inventory.source(package.name),)
    reads = package.version
    found = [_verdict(artefact, wrote, reads) for wrote in writers] if reads else [None]
    for kind in KINDS:
        if None in found:
            yield file_check(artefact, kind, OPEN, sources)
            continue
        worst = min((one for one in found if one), key=lambda one: _ORDER.index(one[0]))
        yield file_check(
            artefact,
            kind,
            MISFIT if worst[0] == kind else FITS,
            sources,
            needs=", ".join(writers),
            has=str(reads),
            what=worst[1],
            wanted=f"scikit-learn=={max(writers, key=_release)}",
        )


_ORDER = (*KINDS, "")


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _verdict(artefact: Artefact, wrote: str, reads: str | None) -> tuple[str, str] | None:
    """Return the kind that a pair of releases is for the classes in a file, and what is known."""
    before, after = _release(wrote)[:2], _release(reads or "")[:2]
    if len(before) < 2 or len(after) < 2:
        return None
    if before == after:
        return "", ""
    rows = [row for row in table("estimators")["rows"] if _concerns(row, artefact, wrote, reads)]
    breaks = [row for row in rows if not row.get("partly")]
    if breaks:
        shows = dict.fromkeys(_SHOWS[row["shows"]] for row in breaks)
        return BREAK, f"{'; '.join(row['what'] for row in breaks)}. So {' or '.join(shows)}"
    if not rows and _is_measured(artefact, wrote, str(reads)):
        return AGREES, ""
    apart = before[1] - after[1] if before[0] == after[0] else (10 if before > after else -1)
    return (MUCH_OLDER if apart > 1 else OTHER), ""


def _concerns(row: dict[str, Any], artefact: Artefact, wrote: str, reads: str | None) -> bool:
    """Return whether a break lies between two releases and touches a class in the file."""
    writes_after = compare_versions(wrote, row["at"]) in (0, 1)
    reads_after = compare_versions(str(reads), row["at"]) in (0, 1)
    crossed = (
        writes_after > reads_after if row["direction"] == "older" else (reads_after > writes_after)
    )
    if row.get("writer") == "any":
        crossed = not reads_after
    below = row.get("writer_below")
    if not crossed or (below and compare_versions(wrote, below) != -1):
        return False
    refers = artefact.names("globals")
    if "beside" in row and row["beside"] not in refers:
        return False
    return any(_names(row["names"], name) for name in refers)


def _names(patterns: Iterable[str], name: str) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )


def _is_measured(artefact: Artefact, wrote: str, reads: str) -> bool:
    """Return whether both releases and every class in the file were tried."""
    low, high = (_release(text) for text in table("estimators")["measured"])
    if not all(low <= _release(text)[:2] <= high for text in (wrote, reads)):
        return False
    own = [name for name in artefact.names("globals") if name.startswith(_OWN)]
    return all(_names(table("estimators")["known"], name) for name in own)
