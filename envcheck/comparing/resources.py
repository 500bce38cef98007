"""Processors, memory and thread pools of the deploy side."""

from __future__ import annotations

import math
from typing import NamedTuple

from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.spellings import architecture
from envcheck.fingerprint import Fingerprint

__all__ = ["add_baselines", "add_resources"]

POOLS = "pool:deploy"
_POOL_VARIABLES = (
    "OMP_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
_POOLS = frozenset(
    {
        "tensorflow",
        "torch",
        "onnxruntime",
        "numpy",
        "scikit-learn",
        "xgboost",
        "lightgbm",
        "catboost",
        "jax",
        "jaxlib",
        "onnxruntime-gpu",
        "tensorflow-cpu",
    }
)
_CPU_FACTS = ("cpu.architecture", "cpu.features")
_NEEDS_AVX = frozenset(
    {"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tf-nightly", "jaxlib"}
)
_FACTS = ("limits.cpu_quota", "cpu.affinity_count")


def add_resources(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add how thread pools stand to the processor time that the container may use."""
    users = sorted(_POOLS & deploy.packages.keys())
    if not users or deploy.intended:
        return
    graph.put_value(
        POOLS, "threadPoolsOf", ", ".join(users[:4]), *(deploy.source(name) for name in users[:4])
    )
    if _undetermined(deploy.fingerprint):
        graph.put(POOLS, "threadPools", "ec:undetermined", *_sources("deploy"))
        return
    load = _overload(deploy.fingerprint)
    if load is None:
        graph.put(POOLS, "threadPools", "ec:bounded", *_sources("deploy"))
        return
    graph.put(POOLS, "threadPools", "ec:overcommitted", *_sources("deploy"))
    counted = "cpu.affinity_count" if load.variable is None else f"env.{load.variable}"
    quota = int(load.quota) if load.quota == int(load.quota) else load.quota
    graph.put_value(POOLS, "threads", load.threads, f"deploy:{counted}")
    graph.put_value(POOLS, "quota", quota, "deploy:limits.cpu_quota")
    graph.put_value(POOLS, "quotaThreads", math.ceil(load.quota), "deploy:limits.cpu_quota")
    before = _overload(train.fingerprint)
    if before is not None and before.threads / before.quota >= load.threads / load.quota:
        graph.put_value(POOLS, "preExisting", True, *_sources("train"))


def add_baselines(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add packages whose wheels assume AVX, and whether the deploy processor has it."""
    has_avx = _has_avx(deploy.fingerprint)
    if deploy.intended or has_avx == "inapplicable":
        return
    for name in sorted(_NEEDS_AVX & deploy.packages.keys()):
        node = f"baseline:{name}"
        sources = (deploy.source(name), *(f"deploy:{key}" for key in _CPU_FACTS))
        graph.put_value(node, "name", name, sources[0])
        state = "undetermined" if has_avx == "undetermined" else "known"
        graph.put(node, "baseline", f"ec:{state}", *sources)
        if has_avx == "no":
            graph.put_value(node, "lacksBaseline", "avx", *sources)
            if name in train.packages and _has_avx(train.fingerprint) == "no":
                before = (train.source(name), *(f"train:{key}" for key in _CPU_FACTS))
                graph.put_value(node, "preExisting", True, *before)


def _has_avx(side: Fingerprint) -> str:
    """Return yes or no; undetermined; or inapplicable, on another architecture."""
    machine, features = (side.fact(key) for key in _CPU_FACTS)
    if machine.is_ok and architecture(machine.value) != "x86_64":
        return "inapplicable"
    if not machine.is_ok or not features.is_ok:
        return "undetermined"
    return "yes" if "avx" in features.value else "no"


def _sources(side: str) -> tuple[str, ...]:
    return tuple(f"{side}:{key}" for key in _FACTS)


def _undetermined(side: Fingerprint) -> bool:
    quota, processors = (side.fact(key) for key in _FACTS)
    return quota.is_open or (quota.is_ok and processors.is_open)


class _Load(NamedTuple):
    """Threads per pool, processors allowed, and the variable that sets the threads if one does."""

    threads: int
    quota: float
    variable: str | None


def _overload(side: Fingerprint) -> _Load | None:
    """Return the load when pools are sized above the quota, else None.

    Libraries size their pools from the processors they may run on, not from the quota, unless
    a variable says how many threads to use.
    """
    quota, processors = side.fact("limits.cpu_quota"), side.fact("cpu.affinity_count")
    if not quota.is_ok or not processors.is_ok or quota.value <= 0:
        return None
    allowed = math.ceil(quota.value)
    threads, variable = processors.value, None
    for name in _POOL_VARIABLES:
        setting = side.fact(f"env.{name}")
        first = str(setting.value).split(",")[0].strip() if setting.is_ok else ""
        if first.isascii() and first.isdigit() and 0 < int(first[:9]) < threads:
            threads, variable = int(first[:9]), name
    return _Load(threads, float(quota.value), variable) if threads > allowed else None
