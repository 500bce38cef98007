"""Files of pickle, joblib, cloudpickle and dill; also the pickles of old PyTorch files."""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.pickle_findings import Findings
from envcheck.artefacts.pickle_scan import Budget, scan
from envcheck.artefacts.reading import Source, Unreadable, Unsure
from envcheck.artefacts.streams import Stream, TooLong, compression, decompressed, plain

__all__ = ["begins_as_pickle", "is_compressed_pickle", "read_pickle", "scan_all"]

_PROTO = 0x80
_MOST_PICKLES = 32
_TORCH_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The first pickle of a file that PyTorch before 1.6 wrote."""


def begins_as_pickle(source: Source) -> bool:
    """Return whether the file begins with the PROTO opcode of an existing protocol."""
    head = source.peek(0, 2)
    return len(head) == 2 and head[0] == _PROTO and 2 <= head[1] <= 5


def is_compressed_pickle(source: Source) -> bool:
    """Return whether the file unpacks to something that begins with the PROTO opcode."""
    name = compression(source)
    try:
        return bool(name) and decompressed(source, name).peek() == _PROTO
    except (Unreadable, Unsure):
        return False


def read_pickle(source: Source, extension: str) -> dict[str, Any]:
    """Return the facts of a file with one pickle, compressed or not."""
    packed = "" if begins_as_pickle(source) else compression(source)
    stream = decompressed(source, packed) if packed else plain(source)
    findings = Findings()
    if source.peek(0, len(_TORCH_MAGIC)) == _TORCH_MAGIC:
        return _old_torch(stream, findings)
    scan_all(stream, findings, Budget())
    if packed and not findings.truncated_scan:
        _check_end(stream, findings)
    facts = findings.facts()
    is_joblib = bool(packed) or extension == ".joblib" or "joblib.numpy_pickle" in findings.modules
    if is_joblib:
        facts["imports"] = sorted({"joblib", *facts["imports"]})
    if packed:
        facts["compression"] = packed
    return {"format": "joblib" if is_joblib else "pickle", **facts}


def _check_end(stream: Stream, findings: Findings) -> None:
    """Raise where the compressed data behind the pickle is cut off."""
    try:
        stream.drain()
    except TooLong as problem:
        findings.truncated_scan = str(problem)


def scan_all(stream: Stream, findings: Findings, budget: Budget) -> None:
    """Scan a pickle and those right behind it, as far as they are looked at."""
    try:
        scan(stream, findings, budget)
        for _ in range(_MOST_PICKLES):
            if stream.peek() != _PROTO:
                return
            scan(stream, findings, budget)
    except TooLong as problem:
        findings.truncated_scan = str(problem)


def _old_torch(stream: Stream, findings: Findings) -> dict[str, Any]:
    """Return the facts of a file with five pickles: magic, version, system, object, keys."""
    budget = Budget()
    try:
        for _ in range(5):
            scan(stream, findings, budget)
    except TooLong as problem:
        findings.truncated_scan = str(problem)
    facts = findings.facts()
    facts["imports"] = sorted({"torch", *facts["imports"]})
    return {"format": "torch", **facts}
