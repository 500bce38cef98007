"""Keras, TensorFlow and TFLite files against the frameworks that read them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from envcheck.comparing.artefacts import Artefact, listed
from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check
from envcheck.comparing.inventory import Inventory, Package
from envcheck.comparing.readers import Reader, file_check
from envcheck.versions import compare_versions, distance

__all__ = ["KERAS_FILES", "flex_operators", "keras_layout", "keras_major", "tensorflow_release"]

KERAS_FILES = frozenset({"keras", "hdf5"})
_MAJOR = r"([0-9]+)\."


def keras_majors(inventory: Inventory) -> dict[int, Package]:
    """Return the major versions of Keras that an environment can read files with."""
    found: dict[int, Package] = {}
    for name in ("keras", "keras-nightly", "tf-keras"):
        package = inventory.packages.get(name)
        major = re.match(_MAJOR, package.version) if package and package.version else None
        if package and major:
            found[2 if name == "tf-keras" else int(major[1])] = package
    tensorflow = inventory.packages.get("tensorflow")
    version = tensorflow.version if tensorflow else None
    if not found and tensorflow and version and compare_versions(version, "2.6") == -1:
        found[2] = tensorflow
    return found


def keras_major(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that a Keras of the writer's major version reads a file, or one that can."""
    if artefact.format not in KERAS_FILES or artefact.get("weights_only"):
        return None
    majors = keras_majors(reader.inventory)
    if not majors or (artefact.format == "hdf5" and "keras_version" not in artefact.fact.value):
        return None
    sources = tuple(reader.inventory.source(package.name) for package in majors.values())
    version = str(artefact.get("keras_version") or "")
    writer = re.match(_MAJOR, version)
    if writer is None or writer[1] not in ("2", "3"):
        return file_check(artefact, "kerasMajor", OPEN, sources)
    wrote = int(writer[1])
    reads = wrote in majors or (artefact.format == "hdf5" and wrote == 2)
    return file_check(
        artefact,
        "kerasMajor",
        FITS if reads else MISFIT,
        sources,
        needs=version,
        has=_spelled(majors.values()),
        wanted="keras>=3" if wrote == 3 else "tf-keras",
    )


def _spelled(packages: Iterable[Package]) -> str:
    found = [f"{one.name} {one.full_version}" for one in packages]
    return " and ".join(found)


def tensorflow_release(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that TensorFlow is not older than the one that wrote a SavedModel."""
    members = reader.members("tensorflow")
    if artefact.format != "savedmodel" or not members:
        return None
    package = members[0]
    sources = (reader.inventory.source(package.name),)
    wrote, reads = str(artefact.get("tensorflow_version") or ""), str(package.version)
    order = compare_versions(reads, wrote) if wrote else None
    if order is None:
        return file_check(artefact, "tensorflowRelease", OPEN, sources)
    older = order < 0 and distance(wrote, reads) in ("epoch", "major", "minor")
    return file_check(
        artefact,
        "tensorflowRelease",
        MISFIT if older else FITS,
        sources,
        needs=wrote,
        has=f"{package.name} {reads}",
        wanted=f"{package.name}>={'.'.join(wrote.split('.')[:2])}",
    )


def keras_layout(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that Keras loads a SavedModel that Keras 2 wrote."""
    majors = keras_majors(reader.inventory)
    if artefact.format != "savedmodel" or not artefact.get("keras_metadata") or not majors:
        return None
    sources = tuple(reader.inventory.source(package.name) for package in majors.values())
    outcome = FITS if 2 in majors else MISFIT
    return file_check(artefact, "kerasLayout", outcome, sources, has=_spelled(majors.values()))


def flex_operators(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that TensorFlow is there for the operators that a TFLite file takes from it."""
    names = artefact.names("flex_ops")
    if not names:
        return None
    if reader.inventory.groups.get("tensorflow"):
        source = reader.inventory.source(reader.inventory.groups["tensorflow"][0])
        return file_check(artefact, "flexOperators", FITS, (source,), what=listed(names))
    sources = (reader.source("python.packages"),)
    outcome = MISFIT if reader.inventory.complete else OPEN
    return file_check(artefact, "flexOperators", outcome, sources, what=listed(names))
