"""Settings by their effective value: variables, keras.json, hash seed.

A variable counts only where something is installed that reads it, and on hardware on which it
has an effect; spellings and defaults are already made one by the probe.
"""

from __future__ import annotations

from envcheck.comparing.builds import Capability, accelerated, capabilities
from envcheck.comparing.checks import FITS, MISFIT, OPEN, Check, put_check
from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory
from envcheck.facts import NOT_APPLICABLE, Fact
from envcheck.versions import compare_versions

__all__ = ["add_variables"]

_FPMATH = "env.ONEDNN_DEFAULT_FPMATH_MODE"
_ONEDNN = "env.TF_ENABLE_ONEDNN_OPTS"
_BACKEND = "framework.keras_backend"
_CONFIG = "framework.keras_config"
_LEGACY = "env.TF_USE_LEGACY_KERAS"
_PROTOBUF = "env.PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"
_TF32 = "env.NVIDIA_TF32_OVERRIDE"
_BFLOAT16 = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
_BLAS_KERNELS = (
    ("env.OPENBLAS_CORETYPE", "openblas"),
    ("env.MKL_CBWR", "mkl"),
    ("env.MKL_ENABLE_INSTRUCTIONS", "mkl"),
)
_BACKENDS = {"jax": ("jax",), "torch": ("torch",), "openvino": ("openvino",)}
_PLAIN = (
    "env.ONEDNN_MAX_CPU_ISA",
    "env.NPY_DISABLE_CPU_FEATURES",
    "env.XLA_FLAGS",
    "env.TF_XLA_FLAGS",
    "env.TF_DETERMINISTIC_OPS",
    "env.TF_CUDNN_DETERMINISTIC",
    "env.TF_CUDNN_USE_AUTOTUNE",
    "env.CUBLAS_WORKSPACE_CONFIG",
    "env.JAX_ENABLE_X64",
    "env.JAX_DEFAULT_MATMUL_PRECISION",
    "env.LD_PRELOAD",
    "env.LD_LIBRARY_PATH",
    "python.hash_seed",
)
_UNSET = "not set"


def add_variables(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add how the settings of the two sides stand to each other."""
    if train.intended or deploy.intended:
        return
    put_check(graph, _fpmath(train, deploy))
    put_check(graph, _compared(train, deploy, _ONEDNN, "onednnOptions", ("tensorflow",)))
    for key, library in _BLAS_KERNELS:
        put_check(graph, _blas_kernel(train, deploy, key, library))
    put_check(graph, _backend(train, deploy))
    put_check(graph, _backend_missing(deploy), _backend_missing(train))
    put_check(graph, _legacy_keras(deploy), _legacy_keras(train))
    put_check(graph, _slow_protobuf(deploy), _slow_protobuf(train))
    put_check(graph, _tf32(train, deploy))
    put_check(graph, _keras_config(train, deploy))
    for key in _PLAIN:
        put_check(graph, _compared(train, deploy, key, "plainSetting"))


def spelled(fact: Fact) -> str:
    """Return the value of a variable, or that it is not set."""
    return str(fact.value) if fact.is_ok else _UNSET


def _facts(train: Inventory, deploy: Inventory, key: str) -> tuple[Fact, Fact]:
    return train.fingerprint.fact(key), deploy.fingerprint.fact(key)


def _sources(key: str) -> tuple[str, str]:
    return f"train:{key}", f"deploy:{key}"


def _uses(side: Inventory, groups: tuple[str, ...]) -> bool:
    return any(side.groups.get(name) or name in side.packages for name in groups)


def _compared(
    train: Inventory, deploy: Inventory, key: str, kind: str, users: tuple[str, ...] = ()
) -> Check | None:
    """Compare a setting, where what reads it is installed on both sides."""
    if users and not (_uses(train, users) and _uses(deploy, users)):
        return None
    before, after = _facts(train, deploy, key)
    if before.state == after.state == NOT_APPLICABLE:
        return None
    outcome = FITS if spelled(before) == spelled(after) else MISFIT
    return Check(
        subject=key,
        kind=kind,
        outcome=OPEN if before.is_open or after.is_open else outcome,
        sources=_sources(key),
        name=key.removeprefix("env."),
        train=spelled(before),
        deploy=spelled(after),
    )


def _fpmath(train: Inventory, deploy: Inventory) -> Check | None:
    """Compare the precision that oneDNN may use, where the processor can use a lower one."""
    check = _compared(train, deploy, _FPMATH, "fpmathMode", ("tensorflow", "torch"))
    if check is None or check.outcome != MISFIT:
        return check
    loose = train if check.train.upper() != "STRICT" else deploy
    features = loose.fingerprint.fact("cpu.features")
    sources = (*check.sources, f"{loose.side}:cpu.features")
    able = features.is_ok and _BFLOAT16.intersection(features.value)
    outcome = OPEN if features.is_open else MISFIT if able else FITS
    return Check(
        subject=_FPMATH, kind="fpmathMode", outcome=outcome, sources=sources,
        name=check.name, train=check.train, deploy=check.deploy,
    )  # fmt: skip


def _blas_kernel(train: Inventory, deploy: Inventory, key: str, library: str) -> Check | None:
    """Compare the choice of BLAS kernels, where that BLAS is installed on both sides."""
    for side in (train, deploy):
        blas = side.fingerprint.fact("native.blas")
        if blas.is_ok and all(entry.get("library") != library for entry in blas.value):
            return None
    return _compared(train, deploy, key, "blasKernel")


def _backend(train: Inventory, deploy: Inventory) -> Check | None:
    before, after = _facts(train, deploy, _BACKEND)
    if NOT_APPLICABLE in (before.state, after.state):
        return None
    return _compared(train, deploy, _BACKEND, "kerasBackend")


def _backend_missing(side: Inventory) -> Check | None:
    """Check that the package of the backend that Keras will import is installed."""
    fact = side.fingerprint.fact(_BACKEND)
    keras = side.packages.get("keras") or side.packages.get("keras-nightly")
    if keras is None or not fact.is_ok or (keras.version or "").startswith("2."):
        return None
    name = str(fact.value)
    source = f"{side.side}:{_BACKEND}"
    sources = (source, f"{side.side}:python.packages")
    if name == "tensorflow":
        there = bool(side.groups.get("tensorflow"))
    elif name in _BACKENDS:
        there = any(package in side.packages for package in _BACKENDS[name])
    else:
        return None
    if there:
        return Check(subject=_BACKEND, kind="backendThere", outcome=FITS, sources=(source,))
    return Check(
        subject=_BACKEND,
        kind="backendThere",
        outcome=MISFIT if side.complete else OPEN,
        sources=sources,
        name=name,
        wanted=name,
    )


def _legacy_keras(side: Inventory) -> Check | None:
    """Check that tf-keras is there where TensorFlow is told to use it."""
    fact = side.fingerprint.fact(_LEGACY)
    names = side.groups.get("tensorflow", [])
    version = side.packages[names[0]].version if names else None
    if fact.value != "1" or not version or compare_versions(version, "2.16") == -1:
        return None
    sources = (f"{side.side}:{_LEGACY}", side.source(names[0]), f"{side.side}:python.packages")
    outcome = MISFIT if side.complete else OPEN
    return Check(
        subject=_LEGACY,
        kind="legacyKeras",
        outcome=FITS if "tf-keras" in side.packages else outcome,
        sources=sources,
        name=f"{names[0]} {version}",
        wanted=f"tf-keras=={'.'.join(version.split('.')[:2])}.*",
    )


def _slow_protobuf(side: Inventory) -> Check | None:
    fact = side.fingerprint.fact(_PROTOBUF)
    if "protobuf" not in side.packages or fact.state == NOT_APPLICABLE:
        return None
    outcome = OPEN if fact.is_open else MISFIT if fact.value == "python" else FITS
    sources = (f"{side.side}:{_PROTOBUF}", side.source("protobuf"))
    return Check(subject=_PROTOBUF, kind="protobufSpeed", outcome=outcome, sources=sources)


def _tf32(train: Inventory, deploy: Inventory) -> Check | None:
    """Compare the switch for TF32, where both sides have cards and builds that use it."""
    pair = (capabilities(train), capabilities(deploy))
    if not (accelerated(train, "cuda") and accelerated(deploy, "cuda")):
        return None
    if any(not found or min(found) < Capability(8, 0) for found in pair):
        return None
    check = _compared(train, deploy, _TF32, "tf32Switch")
    if check is None or check.outcome != MISFIT:
        return check
    before, after = check.train == "0", check.deploy == "0"
    sources = (*check.sources, *_sources("gpu.devices"))
    return Check(
        subject=_TF32, kind="tf32Switch", outcome=MISFIT if before != after else FITS,
        sources=sources, train=check.train, deploy=check.deploy,
    )  # fmt: skip


def _keras_config(train: Inventory, deploy: Inventory) -> Check | None:
    """Compare what keras.json sets for layers that are built anew."""
    before, after = _facts(train, deploy, _CONFIG)
    if NOT_APPLICABLE in (before.state, after.state):
        return None
    pair = [
        {key: fact.value.get(key) for key in ("floatx", "image_data_format", "epsilon")}
        if fact.is_ok
        else {}
        for fact in (before, after)
    ]
    apart = [key for key in pair[0] if pair[0][key] != pair[1].get(key)]
    return Check(
        subject=_CONFIG,
        kind="kerasConfig",
        outcome=OPEN if before.is_open or after.is_open else MISFIT if apart else FITS,
        sources=_sources(_CONFIG),
        what=", ".join(apart),
        train=", ".join(str(pair[0].get(key)) for key in apart),
        deploy=", ".join(str(pair[1].get(key)) for key in apart),
    )
