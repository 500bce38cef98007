"""What a model file needs to be loaded, and which installed packages give it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from envcheck.comparing.artefacts import Artefact
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.tables import table, variant_group
from envcheck.fingerprint import Fingerprint
from envcheck.probing.distributions import normalise
from envcheck.records import record

__all__ = ["Need", "needs_of", "providers"]

# Patterns stay texts here: `re` compiles one when it is first needed, which is often never.
_ONNX = (
    r"onnxruntime(?!-extensions|-tools)(?:-.+)?|ort-nightly.*|openvino|tensorrt(?:-.+)?"
    r"|tritonserver"
)
_MAY_RUN_ONNX = (
    "onnx", "opencv-python", "opencv-python-headless", "opencv-contrib-python",
    "opencv-contrib-python-headless", "apache-tvm", "onnx2torch", "onnx-tf",
)  # fmt: skip
_TENSORFLOW = r"tensorflow(?:-(?:cpu|gpu|intel|macos|rocm|cpu-aws))?|intel-tensorflow|tf-nightly.*"
_TFLITE = rf"tflite-runtime.*|ai-edge-litert.*|{_TENSORFLOW}"
_KERAS = rf"keras|keras-nightly|tf-keras|{_TENSORFLOW}"
_BACKENDS = {
    "tensorflow": _TENSORFLOW,
    "jax": "jax",
    "torch": "torch",
    "openvino": "openvino",
    "numpy": "numpy",
}
_ANY_BACKEND = rf"jax|torch|openvino|{_TENSORFLOW}"


@record(kw_only=True)
class Need:
    """One thing that a file needs: an import, or something that runs its format."""

    artefact: Artefact
    label: str
    reason: str
    pattern: str | None = None
    """The names of distributions that meet it; None for whatever provides the import."""
    usual: str = ""
    """The distribution that usually meets it, empty when that is not known."""
    may_serve: tuple[str, ...] = ()
    is_open: bool = False
    """Whether it is not known which of several packages it is."""


def needs_of(artefact: Artefact, deploy: Fingerprint) -> Iterable[Need]:
    """Yield what a file needs."""
    form = artefact.format
    if form == "onnx":
        yield _runtime(artefact, _ONNX, "onnxruntime", _MAY_RUN_ONNX)
    elif form == "tflite":
        yield _runtime(artefact, _TFLITE, "ai-edge-litert")
    elif form == "savedmodel":
        yield _runtime(artefact, _TENSORFLOW, "tensorflow")
    elif form in ("keras", "hdf5") and "keras" in artefact.names("imports"):
        yield _runtime(artefact, _KERAS, "keras")
        yield _backend(artefact, deploy)
    done = (
        {"keras"} if form in ("keras", "hdf5") else {"tensorflow"} if form == "savedmodel" else ()
    )
    for name in artefact.names("imports"):
        if name not in done:
            yield _import(artefact, name)


def _runtime(artefact: Artefact, pattern: str, usual: str, may_serve: tuple[str, ...] = ()) -> Need:
    return Need(
        artefact=artefact,
        label=usual,
        reason=f"format {artefact.format}",
        pattern=pattern,
        usual=usual,
        may_serve=may_serve,
    )


def _backend(artefact: Artefact, deploy: Fingerprint) -> Need:
    """Return the backend that Keras will use there; any of them when it is not known."""
    fact = deploy.fact("framework.keras_backend")
    name = str(fact.value) if fact.is_ok else ""
    return Need(
        artefact=artefact,
        label=name or "a backend",
        reason="backend of Keras",
        pattern=_BACKENDS.get(name, _ANY_BACKEND),
        usual=name if name in _BACKENDS else "",
        is_open=name not in _BACKENDS,
    )


def _import(artefact: Artefact, name: str) -> Need:
    known = table("imports")["distributions"].get(name, "")
    return Need(
        artefact=artefact,
        label=name,
        reason=f"it imports {name}",
        usual=known or (name if _is_listed(name) else ""),
    )


def _is_listed(name: str) -> bool:
    """Return whether a distribution of the same name is known to bring an import."""
    listed = table("roles")["roles"].values()
    return any(normalise(name) in names for names in listed)


def providers(inventory: Inventory, need: Need) -> list[str]:
    """Return the installed packages that meet a need."""
    if need.pattern is not None:
        return [name for name in sorted(inventory.packages) if re.fullmatch(need.pattern, name)]
    found = []
    for name, package in sorted(inventory.packages.items()):
        imports = package.value.get("imports")
        brings = need.label in imports if imports else name == normalise(need.label)
        if brings or name == need.usual or _is_variant(name, need.usual):
            found.append(name)
    return found


def _is_variant(name: str, usual: str) -> bool:
    group = variant_group(usual) if usual else None
    return group is not None and variant_group(name) == group
