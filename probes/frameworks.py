"""Build facts of the frameworks, read as text from their files; none of them is imported."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from envcheck.facts import Fact, Facts, not_applicable, ok, unknown

if TYPE_CHECKING:
    from envcheck.probing.distributions import Distribution
    from envcheck.probing.host import Host

# Patterns stay texts here: `re` compiles one when it is first needed, which is often never.
_TENSORFLOW = r"(?:tensorflow(?:-(?:cpu|gpu|intel|macos|rocm|cpu-aws))?|tf-nightly\S*)"
_ONNXRUNTIME = r"(?:onnxruntime(?:-(?!extensions|genai)[a-z0-9-]+)?|ort-nightly\S*)"
_KERAS = ("keras", "keras-nightly")
_BUILD_INFO = "tensorflow/python/platform/build_info.py"
_TEXT_LIMIT = 1 << 16
_ASSIGNMENT = (
    r"""(?m)^(\w+)[ \t]*(?::[^=\n]{1,60})?=[ \t]*(?:(None)|["']([^"'\n]{0,100})["'])[ \t]*$"""
)
_KERAS_DEFAULTS = {
    "backend": "tensorflow",
    "floatx": "float32",
    "epsilon": 1e-07,
    "image_data_format": "channels_last",
}
_PROVIDERS = {
    "cann": "CANNExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "dnnl": "DnnlExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "nv_tensorrt_rtx": "NvTensorRTRTXExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "qnn": "QNNExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "vitisai": "VitisAIExecutionProvider",
    "webgpu": "WebGpuExecutionProvider",
}
_PROVIDER_FILE = r"(?:lib)?onnxruntime_providers_(\w+)\.(?:so|dll|dylib)"


def probe(host: Host) -> Facts:
    """Return what the files of installed frameworks tell about their builds."""
    if not host.interpreter.path:
        why = unknown(host.interpreter.problem or "no import path is known")
        return {
            f"framework.{name}": why
            for name in ("keras_backend", "keras_config", "onnxruntime", "tensorflow", "torch")
        }
    found: dict[str, list[Distribution]] = {}
    for dist in host.distributions:
        kind = _kind(dist.name or "")
        if kind:
            found.setdefault(kind, []).append(dist)
    config, backend = _keras(host, found)
    return {
        "framework.keras_backend": backend,
        "framework.keras_config": config,
        "framework.onnxruntime": _onnxruntime(host, found.get("onnxruntime", [])),
        "framework.tensorflow": _tensorflow(host, found.get("tensorflow", [])),
        "framework.torch": _torch(host, found.get("torch", [])),
    }


def _kind(name: str) -> str:
    if name in ("onnxruntime", "tensorflow", "torch"):
        return name
    if name in _KERAS:
        return "keras"
    if name.startswith(("tensorflow", "tf-nightly")) and re.fullmatch(_TENSORFLOW, name):
        return "tensorflow"
    if name.startswith(("onnxruntime", "ort-nightly")) and re.fullmatch(_ONNXRUNTIME, name):
        return "onnxruntime"
    return ""


def _tensorflow(host: Host, dists: list[Distribution]) -> Fact:
    if not dists:
        return not_applicable("TensorFlow is not installed")
    for dist in dists:
        path = f"{dist.folder}/{_BUILD_INFO}"
        text = host.read(path, _TEXT_LIMIT)
        if text is None:
            continue
        info = _build_info(text)
        if info is None:
            return unknown(f"{path} is not written as expected")
        return ok(_tensorflow_value(dist, info), _BUILD_INFO)
    return unknown(f"TensorFlow is installed, but not {_BUILD_INFO}")


def _build_info(text: str) -> dict[str, Any] | None:
    """Return the build record as data: the argument of OrderedDict(...), or a dict."""
    _, found, rest = text.partition("build_info")
    literal = rest.partition("=")[2].strip() if found else ""
    if literal.startswith("collections.OrderedDict(") and ")" in literal:
        literal = literal[len("collections.OrderedDict(") : literal.rindex(")")]
    import ast

    try:
        return dict(ast.literal_eval(literal.strip()))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _tensorflow_value(dist: Distribution, info: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = {"version": dist.field("version")}
    for key in ("cuda_version", "cudnn_version"):
        value[key] = info[key] if isinstance(info.get(key), str) else None
    for key in ("is_cuda_build", "is_rocm_build"):
        value[key] = info[key] if isinstance(info.get(key), bool) else None
    found = info.get("cuda_compute_capabilities")
    if isinstance(found, (list, tuple)) and all(isinstance(item, str) for item in found):
        value["compute_capabilities"] = sorted(found)
    return {key: item for key, item in value.items() if item not in (None, "")}


def _torch(host: Host, dists: list[Distribution]) -> Fact:
    if not dists:
        return not_applicable("PyTorch is not installed")
    dist = dists[0]
    values = _assignments(host.read(f"{dist.folder}/torch/version.py", _TEXT_LIMIT) or "")
    if "__version__" not in values:
        return unknown("PyTorch is installed, but torch/version.py tells no version")
    out = {"version": values["__version__"]}
    out.update({key: values.get(key, "") for key in ("cuda", "hip", "git_version")})
    return ok({key: item for key, item in out.items() if item}, "torch/version.py")


def _assignments(text: str) -> dict[str, str]:
    """Return the top-level names that are set to a string; those set to None have none."""
    return {name: value for name, _, value in re.findall(_ASSIGNMENT, text)}


def _onnxruntime(host: Host, dists: list[Distribution]) -> Fact:
    if not dists:
        return not_applicable("ONNX Runtime is not installed")
    folder = dists[0].folder
    files = host.listdir(f"{folder}/onnxruntime/capi")
    if files is None:
        return unknown("ONNX Runtime is installed, but not onnxruntime/capi")
    text = host.read(f"{folder}/onnxruntime/__init__.py", _TEXT_LIMIT) or ""
    version = _assignments(text).get("__version__") or dists[0].field("version")
    # Several distributions write into one folder; the last one installed is the one that runs.
    owners = [dist for dist in dists if dist.field("version") == version] or dists
    value: dict[str, Any] = {"providers": _providers(files)}
    if version:
        value["version"] = version
    if len(owners) == 1:
        value["package"] = owners[0].name
    return ok(value)


def _providers(files: list[str]) -> list[str]:
    """Return the execution providers whose libraries are there; the CPU's is built in."""
    found = {"CPUExecutionProvider"}
    for name in files:
        match = re.fullmatch(_PROVIDER_FILE, name.lower())
        if match and match.group(1) in _PROVIDERS:
            found.add(_PROVIDERS[match.group(1)])
        elif name.lower() == "directml.dll":
            found.add("DmlExecutionProvider")
    return sorted(found)


def _keras(host: Host, found: dict[str, list[Distribution]]) -> tuple[Fact, Fact]:
    """Return the configuration that Keras would use, and its backend."""
    if "keras" not in found:
        absent = not_applicable("Keras is not installed")
        return absent, absent
    config = _keras_config(host)
    if (found["keras"][0].field("version") or "").startswith("2."):
        return config, ok("tensorflow", "Keras 2")
    variable = host.environ.get("KERAS_BACKEND")
    if variable:
        return config, ok(variable, "KERAS_BACKEND")
    if not config.is_ok:
        return config, unknown(config.reason)
    return config, ok(config.value["backend"], config.source)


def _keras_config(host: Host) -> Fact:
    """Return keras.json over Keras's own defaults, which apply where there is no file."""
    folder = _keras_folder(host)
    if folder is None:
        return unknown("the home folder of the user that runs Keras is not known")
    path = f"{folder}/keras.json"
    text = host.read(path, _TEXT_LIMIT)
    if text is None:
        if host.exists(path) or "not readable" in host.why_not(folder):
            return unknown(host.why_not(path))
        return ok(dict(_KERAS_DEFAULTS), "default")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ok(dict(_KERAS_DEFAULTS), "default, because keras.json is not JSON")
    if not isinstance(data, dict):
        return unknown("keras.json holds no object")
    value = dict(_KERAS_DEFAULTS)
    for key, default in _KERAS_DEFAULTS.items():
        if isinstance(data.get(key), type(default)):
            value[key] = data[key]
    return ok(value, "keras.json")


def _keras_folder(host: Host) -> str | None:
    """Return the folder that holds keras.json: KERAS_HOME, else ~/.keras."""
    if host.environ.get("KERAS_HOME"):
        return _expanded(host, host.environ["KERAS_HOME"])
    return _expanded(host, "~/.keras")


def _expanded(host: Host, path: str) -> str | None:
    if not path.startswith("~"):
        return path
    home = host.environ.get("HOME")
    if not home and host.live:
        home = os.path.expanduser("~")
        home = "" if home.startswith("~") else home
    return home + path[1:] if home else None
