"""Pickles, and Python code in any file, against interpreter, numpy and scikit-learn."""

from __future__ import annotations

import re

from envcheck.comparing.artefacts import Artefact
from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check, known
from envcheck.comparing.readers import Reader, file_check
from envcheck.versions import compare_versions, distance

__all__ = ["numpy_core", "numpy_generator", "pickle_protocol", "python_code"]

_PROTOCOLS = {4: "3.4", 5: "3.8"}
_BIT_GENERATOR = r"numpy\.random\._(?:pcg64|mt19937|philox|sfc64)\."


def pickle_protocol(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that the interpreter knows the protocol of a pickle."""
    protocol = artefact.get("protocol")
    wanted = _PROTOCOLS.get(protocol) if isinstance(protocol, int) else None
    if wanted is None:
        return None
    sources = (reader.source("python.version"),)
    version = known(reader.side, "python.version")
    order = compare_versions(version.value, wanted) if version else None
    if version is None or order is None:
        return file_check(artefact, "pickleProtocol", OPEN, sources)
    return file_check(
        artefact,
        "pickleProtocol",
        MISFIT if order < 0 else FITS,
        sources,
        needs=str(protocol),
        has=version.value,
        wanted=wanted,
    )


def numpy_core(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that numpy has the module that arrays of numpy 2 name."""
    if not any(name.startswith("numpy._core.") for name in artefact.names("globals")):
        return None
    return _numpy_from(artefact, reader, "numpyCore", "1.26")


def numpy_generator(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that numpy rebuilds a random generator as numpy 2 stores it: by its class."""
    if not any(re.match(_BIT_GENERATOR, name) for name in artefact.names("globals")):
        return None
    return _numpy_from(artefact, reader, "numpyGenerator", "2.0.0.dev0")


def _numpy_from(artefact: Artefact, reader: Reader, kind: str, first: str) -> Check | None:
    package = reader.inventory.packages.get("numpy")
    if package is None:
        return None
    sources = (reader.inventory.source("numpy"),)
    order = compare_versions(package.version, first) if package.version else None
    if order is None:
        return file_check(artefact, kind, OPEN, sources)
    has = f"numpy {package.version}"
    return file_check(artefact, kind, MISFIT if order < 0 else FITS, sources, has=has)


def python_code(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that byte code in a file meets the Python release that compiled it."""
    code = artefact.get("holds_code")
    if code is False or (code is None and "holds_code" not in artefact.unread):
        return None
    versions = [known(side, "python.version") for side in (reader.writer, reader.side)]
    sources = ("train:python.version", reader.source("python.version"))
    before, after = (fact.value if fact else "" for fact in versions)
    apart = distance(before, after) if before and after else None
    if not (before and after) or (code is None and apart in ("major", "minor")):
        return file_check(artefact, "codeRelease", OPEN, sources)
    outcome = MISFIT if apart in ("epoch", "major", "minor") else FITS
    return file_check(artefact, "codeRelease", outcome, sources, needs=before, has=after)
