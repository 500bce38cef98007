"""PyTorch archives (`.pt`, `.pth`): the pickles inside, scanned like any other."""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.archives import Archive
from envcheck.artefacts.pickle_file import scan_all
from envcheck.artefacts.pickle_findings import Findings
from envcheck.artefacts.pickle_scan import Budget
from envcheck.artefacts.reading import clip
from envcheck.artefacts.streams import Stream

__all__ = ["is_torch", "read_torch"]

_MOST_NAMES = 1_000
_LARGEST_VERSION = 16


def is_torch(archive: Archive) -> bool:
    """Return whether an archive has the main pickle of a PyTorch file."""
    return any(name.rpartition("/")[2] == "data.pkl" for name in archive.names)


def read_torch(archive: Archive) -> dict[str, Any]:
    """Return the facts of a PyTorch archive."""
    pickles = [name for name in archive.names if name.endswith((".pkl", ".pickle"))]
    findings, budget = Findings(), Budget()
    for name in pickles:
        scan_all(Stream(archive.reader(name)), findings, budget)
    facts = findings.facts()
    version = next((name for name in archive.names if name.endswith("/version")), None)
    if version is not None:
        text = archive.read(version, _LARGEST_VERSION).strip()
        if text.isdigit():
            facts["archive_version"] = int(text)
    return {
        **facts,
        "pickles": [clip(name) for name in pickles[:_MOST_NAMES]],
        "torchscript": any("/code/" in f"/{name}" for name in archive.names),
        "unsafe_names": archive.unsafe_names,
        "imports": sorted({"torch", *facts["imports"]}),
    }
