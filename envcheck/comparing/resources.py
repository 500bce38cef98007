"""Processors, memory and thread pools of the deploy side."""

from __future__ import annotations

import math

from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory
from envcheck.fingerprint import Fingerprint

__all__ = ["add_baselines", "add_resources"]

POOLS = "pool:deploy"
_POOL_VARIABLES = (
    "OMP_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
_POOLS = frozenset({"tensorflow", "torch", "onnxruntime", "numpy", "scikit-learn", "xgboost",
                    "lightgbm", "catboost", "jax", "jaxlib", "onnxruntime-gpu", "tensorflow-cpu"})
_CPU_FACTS = ("cpu.architecture", "cpu.features")
_NEEDS_AVX = frozenset({"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel",
                        "tf-nightly", "jaxlib"})
_FACTS = ("limits.cpu_quota", "cpu.affinity_count")


def add_resources(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add how thread pools stand to the processor time that the container may use."""
    users = sorted(_POOLS & deploy.packages.keys())
    if not users or deploy.intended:
        return
    graph.put_value(POOLS, "threadPoolsOf", ", ".join(users[:4]),
                    *(deploy.source(name) for name in users[:1]))
    if _undetermined(deploy.fingerprint):
        graph.put(POOLS, "threadPools", "ec:undetermined", *_sources("deploy"))
        return
    load = _overload(deploy.fingerprint)
    if load is None:
        graph.put(POOLS, "threadPools", "ec:bounded", *_sources("deploy"))
        return
    graph.put(POOLS, "threadPools", "ec:overcommitted", *_sources("deploy"))
    graph.put_value(POOLS, "threads", load[0], "deploy:cpu.affinity_count")
    graph.put_value(POOLS, "quota", load[1], "deploy:limits.cpu_quota")
    graph.put_value(POOLS, "quotaThreads", max(1, math.ceil(load[1])), "deploy:limits.cpu_quota")
    before = _overload(train.fingerprint)
    if before is not None and before[0] / before[1] >= load[0] / load[1]:
        graph.put_value(POOLS, "preExisting", True, *_sources("train"))


def add_baselines(graph: Graph, deploy: Inventory) -> None:
    """Add packages whose wheels assume AVX, and whether the deploy processor has it."""
    architecture, features = (deploy.fingerprint.fact(key) for key in _CPU_FACTS)
    if not architecture.is_ok or architecture.value != "x86_64":
        return
    for name in sorted(_NEEDS_AVX & deploy.packages.keys()):
        node = f"baseline:{name}"
        sources = (deploy.source(name), *(f"deploy:{key}" for key in _CPU_FACTS))
        graph.put_value(node, "name", name, sources[0])
        state = "known" if features.is_ok else "undetermined"
        graph.put(node, "baseline", f"ec:{state}", *sources)
        if features.is_ok and "avx" not in features.value:
            graph.put_value(node, "lacksBaseline", "avx", *sources)


def _sources(side: str) -> tuple[str, ...]:
    return tuple(f"{side}:{key}" for key in _FACTS)


def _undetermined(side: Fingerprint) -> bool:
    return any(side.fact(key).is_open for key in _FACTS)


def _overload(side: Fingerprint) -> tuple[int, float] | None:
    """Return threads and quota when pools are sized above the quota, else None.

    Libraries size their pools from the processors they may run on, not from the quota, unless
    a variable says how many threads to use.
    """
    quota, processors = side.fact("limits.cpu_quota"), side.fact("cpu.affinity_count")
    if not quota.is_ok or not processors.is_ok or quota.value <= 0:
        return None
    allowed = math.ceil(quota.value)
    threads = processors.value
    for name in _POOL_VARIABLES:
        setting = side.fact(f"env.{name}")
        if setting.is_ok and str(setting.value).split(",")[0].strip().isdigit():
            threads = min(threads, int(str(setting.value).split(",")[0]))
    return (threads, float(quota.value)) if threads > allowed else None
