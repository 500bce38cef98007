"""ONNX files against ONNX Runtime and the processor."""

from __future__ import annotations

from functools import cache

from envcheck.comparing.artefacts import CONTRIB, Artefact, listed
from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check, known
from envcheck.comparing.inventory import Package
from envcheck.comparing.readers import Reader, file_check
from envcheck.comparing.spellings import architecture
from envcheck.comparing.tables import table
from envcheck.records import record

__all__ = ["contributed_operators", "onnx_ir", "onnx_opset", "quantised_for_vnni"]

_VNNI = frozenset({"avx512_vnni", "avx_vnni", "amx_int8"})
_UNSIGNED_INPUTS = frozenset({"DynamicQuantizeLinear", "DynamicQuantizeMatMul",
                              "DynamicQuantizeLSTM"})  # fmt: skip
_MULTIPLIES = ("QLinear", "MatMulInteger", "ConvInteger", "QGemm", "QAttention", "DynamicQuantize")
_CPU = "CPUExecutionProvider"
_DOMAINS = {"": "ai.onnx", "ai.onnx.ml": "ai.onnx.ml"}
_TOO_NEW = "this release of ONNX Runtime is newer than the table of what each release reads"
_TOO_OLD = "the table of what each release of ONNX Runtime reads is not certain here"


@record
class Limits:
    """What a release reads for certain, and what none of its kind reads; None is no limit."""

    low: tuple[int, ...]
    high: tuple[int, ...] | None


def _minor(version: str) -> tuple[int, int] | None:
    parts = version.split("+", maxsplit=1)[0].split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return int(parts[0]), int(parts[1])


@cache
def _limits(release: tuple[int, int]) -> Limits | None:
    """Return the limits of a minor release; None when it is older than any that is known."""
    data = table("onnxruntime")
    measured = {_minor(text) or (0, 0): tuple(row) for text, row in data["measured"].items()}
    documented = {_minor(text) or (0, 0): tuple(row) for text, row in data["documented"].items()}
    at_or_below = [key for key in (*measured, *documented) if key <= release]
    if not at_or_below:
        return None
    row = max(at_or_below)
    if row not in measured:
        return Limits(documented[row], measured[min(measured)])
    return Limits(measured[row], measured[row] if release <= max(measured) else None)


def onnx_ir(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that ONNX Runtime reads the version of the file format."""
    version = artefact.get("ir_version")
    if artefact.format != "onnx" or not isinstance(version, int):
        return None
    return _limited(artefact, reader, "onnxIr", (0, version, "IR version"))


def onnx_opset(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that ONNX Runtime has the operator sets; a set that it does not limit is not asked."""
    opsets = artefact.get("opsets")
    if artefact.format != "onnx" or not isinstance(opsets, dict):
        return None
    asked = [
        (index, opsets[domain], _DOMAINS[domain])
        for index, domain in enumerate(_DOMAINS, 1)
        if isinstance(opsets.get(domain), int)
    ]
    found = [_limited(artefact, reader, "onnxOpset", item) for item in asked]
    order = (MISFIT, OPEN, FITS)
    return min(
        (check for check in found if check is not None),
        key=lambda check: order.index(check.outcome),
        default=None,
    )


def _limited(
    artefact: Artefact, reader: Reader, kind: str, asked: tuple[int, int, str]
) -> Check | None:
    """Compare one number of a file with the limit of each ONNX Runtime that is installed."""
    names = reader.inventory.groups.get("onnxruntime", [])
    if not names:
        return None
    packages = [reader.inventory.packages[name] for name in names]
    found = {_answer(package, asked[0], asked[1]) for package in packages}
    sources = tuple(reader.inventory.source(name) for name in names)
    if len(found) > 1 or None in found:
        return file_check(artefact, kind, OPEN, sources)
    outcome, limit = found.pop() or (OPEN, "")
    return file_check(
        artefact,
        kind,
        outcome,
        sources,
        needs=f"{asked[2]} {asked[1]}",
        has=f"{packages[0].name} {packages[0].full_version}, which reads up to {limit}",
        wanted=_cure(packages[0].name, asked[0], asked[1]),
        open_question=_TOO_NEW if limit == "new" else _TOO_OLD,
    )


def _answer(package: Package, index: int, number: int) -> tuple[str, str] | None:
    """Return outcome and limit for one installed runtime; None when its version is not known."""
    release = _minor(package.version) if package.version else None
    if release is None:
        return None
    limits = _limits(release)
    if limits is None:
        return OPEN, "old"
    if number <= limits.low[index]:
        return FITS, str(limits.low[index])
    if limits.high is None:
        return OPEN, "new"
    return (MISFIT, str(limits.high[index])) if number > limits.high[index] else (OPEN, "old")


def _cure(name: str, index: int, number: int) -> str:
    """Return a requirement for the first release that reads such a file, as far as known."""
    rows = table("onnxruntime")["measured"].items()
    able = [_minor(text) or (0, 0) for text, row in rows if row[index] >= number]
    return f"{name}>={'.'.join(map(str, min(able)))}" if able else name


def quantised_for_vnni(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that a processor multiplies unsigned by signed bytes without saturation.

    Without VNNI the x86 kernels add pairs of products in 16 bits, which overflow.
    """
    types, operators = artefact.names("int8_weight_types"), artefact.names("quantised_ops")
    mixed = "uint8" in types or bool(_UNSIGNED_INPUTS.intersection(operators))
    multiplies = any(name.startswith(_MULTIPLIES) for name in operators)
    converts = {"QuantizeLinear", "DequantizeLinear"} <= set(operators)
    if artefact.format != "onnx" or not reader.members("onnxruntime"):
        return None
    if "int8" not in types or not mixed or not (multiplies or converts):
        return None
    machine, features = reader.side.fact("cpu.architecture"), reader.side.fact("cpu.features")
    sources = tuple(map(reader.source, ("cpu.architecture", "cpu.features")))
    if machine.is_ok and architecture(machine.value) != "x86_64":
        return None
    if not (machine.is_ok and features.is_ok) or _runs_elsewhere(reader):
        return file_check(artefact, "bytesMultiply", OPEN, sources)
    outcome = FITS if _VNNI.intersection(features.value) else MISFIT
    return file_check(artefact, "bytesMultiply", outcome, sources, what=listed(operators))


def _runs_elsewhere(reader: Reader) -> bool:
    """Return whether the graph may run on a GPU there."""
    runtime, devices = known(reader.side, "framework.onnxruntime"), reader.side.fact("gpu.devices")
    providers = runtime.value.get("providers", ()) if runtime else ()
    return any(name != _CPU for name in providers) and bool(devices.value)


def contributed_operators(artefact: Artefact, reader: Reader) -> Check | None:
    """Check that onnxruntime-extensions is there for the operators that it brings."""
    names = sorted(CONTRIB.intersection(artefact.names("custom_domains")))
    if not names:
        return None
    package = reader.inventory.packages.get("onnxruntime-extensions")
    if package is not None:
        sources: tuple[str, ...] = (reader.inventory.source(package.name),)
        return file_check(artefact, "contributedOperators", FITS, sources, what=listed(names))
    sources = (reader.source("python.packages"),)
    outcome = MISFIT if reader.inventory.complete else OPEN
    return file_check(artefact, "contributedOperators", outcome, sources, what=listed(names))
