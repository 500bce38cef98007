"""Convert the reference in a process of its own, within a time and a memory limit."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envcheck.conversion.children import POLL_SECONDS, Watch, end, start
from envcheck.conversion.complaints import Complaint, read_log
from envcheck.errors import MissingExtra

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from envcheck.conversion.children import Limits
    from envcheck.conversion.inputs import Spec

__all__ = ["Conversion", "convert", "export_live"]

_TAIL = 2000


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """What came of a conversion: a file, or the reason why there is none.

    `names` are the names of the inputs in the file, in the order of the model; `extra` inputs
    that the file wants beyond them.
    """

    path: str = ""
    problem: str = ""
    route: str = ""
    names: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    errors: tuple[str, ...] = ()
    seconds: float = 0.0
    cached: bool = False
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to convert. `kind` is keras (a model file) or savedmodel (a folder)."""

    source: str
    kind: str
    specs: tuple[Spec, ...] = ()
    form: str = "single"
    opset: int = 15
    imports: tuple[str, ...] = ()
    allow_code: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the job as the child reads it."""
        return {
            "source": self.source,
            "kind": self.kind,
            "inputs": [
                {"name": s.name, "shape": list(s.shape), "dtype": s.dtype} for s in self.specs
            ],
            "form": self.form,
            "opset": self.opset,
            "imports": list(self.imports),
            "allow_code": self.allow_code,
        }


def convert(job: Job, folder: str, limits: Limits, *, use_cache: bool = True) -> Conversion:
    """Convert a model to ONNX in `folder`, or take an earlier result. Raises MissingExtra."""
    _require_converter()
    key = _key(job) if use_cache and job.kind == "keras" and not job.imports else ""
    if key:
        found = _from_cache(key)
        if found is not None:
            return found
    started = time.monotonic()
    problem, output = _run_child(job, folder, limits)
    result_path = os.path.join(folder, "result.json")
    result: dict[str, Any] = {}
    if not problem and os.path.exists(result_path):
        with open(result_path, encoding="utf-8") as file:
            result = json.load(file)
    if not problem and not result.get("ok"):
        last_words = output[-_TAIL:].strip() or "it ended without a word"
        problem = (result.get("errors") or [last_words])[0]
    conversion = Conversion(
        path="" if problem else os.path.join(folder, "model.onnx"),
        problem=problem,
        route=result.get("route", ""),
        names=tuple(result.get("names", ())),
        extra=tuple(result.get("extra", ())),
        complaints=tuple(read_log((*result.get("log", ()), *output.splitlines()))),
        errors=tuple(result.get("errors", ())),
        seconds=time.monotonic() - started,
        versions={"tf2onnx": result.get("version", "")} if result else {},
    )
    if key and not problem and not conversion.complaints:
        _to_cache(key, folder)
    return conversion


def _require_converter() -> None:
    import importlib.util

    for module in ("tensorflow", "tf2onnx", "onnx"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(module, "keras", "converting a Keras model to ONNX")


def _run_child(job: Job, folder: str, limits: Limits) -> tuple[str, str]:
    """Run the converter; return why it was ended (or nothing) and what it printed."""
    paths = {"output": "model.onnx", "result": "result.json"}
    data = {**job.to_json(), **{name: os.path.join(folder, p) for name, p in paths.items()}}
    job_path, log_path = os.path.join(folder, "job.json"), os.path.join(folder, "log.txt")
    with open(job_path, "w", encoding="utf-8") as file:
        json.dump(data, file)
    with open(log_path, "wb") as log:
        child = start(
            "envcheck.conversion.conversion_child", job_path, log=log, output=log,
            environment={"CUDA_VISIBLE_DEVICES": "-1"},
        )  # fmt: skip
        problem = _watch(child, limits)
    with open(log_path, encoding="utf-8", errors="replace") as file:
        output = file.read()
    return problem, output


def _watch(child: subprocess.Popen[bytes], limits: Limits) -> str:
    """Wait for the child; end it at a limit and return how it ended, or nothing if well."""
    watch = Watch(child=child, seconds=limits.seconds, memory=limits.memory(), who="the converter")
    problem = ""
    try:
        while child.poll() is None and not problem:
            problem = watch.exceeded()
            if not problem:
                time.sleep(POLL_SECONDS)
    finally:
        end(child)
    if problem or child.returncode > 0:  # an exit code of its own comes with words
        return problem
    return watch.how_it_ended()


def export_live(model: Any, specs: Sequence[Spec], form: str, folder: str) -> tuple[str, list[str]]:
    """Write a live model's inference as a SavedModel, for a child that lacks its classes.

    Returns the folder and the names of its inputs in order.
    """
    import tensorflow as tf

    from envcheck.conversion.conversion_child import trace

    described = [{"name": s.name, "shape": list(s.shape), "dtype": s.dtype} for s in specs]
    function, names = trace(model, described, form)
    module = tf.Module()
    module.variables_of_model = [getattr(v, "value", v) for v in model.variables]
    module.function = function
    target = os.path.join(folder, "saved_model")
    tf.saved_model.save(module, target, signatures=_named_outputs(function, names))
    return target, names


def _named_outputs(function: Any, names: list[str]) -> Any:
    """Return a function with named outputs in order, as a signature needs."""
    import tensorflow as tf

    specs = [
        tf.TensorSpec(t.shape, t.dtype, name=name)
        for t, name in zip(function.inputs, names, strict=False)
    ]

    @tf.function(input_signature=specs)  # type: ignore[untyped-decorator]
    def serve(*values: Any) -> dict[str, Any]:
        return {f"output_{i:03d}": value for i, value in enumerate(function(*values))}

    return serve


def _cache_folder() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "envcheck", "conversions")


def _key(job: Job) -> str:
    """Return the digest of the model file, the settings and the versions that convert it."""
    from importlib.metadata import PackageNotFoundError, version

    digest = hashlib.sha256()
    with open(job.source, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    settings = {**job.to_json(), "source": "", "limits": ""}
    versions = []
    for name in ("tensorflow", "keras", "tf2onnx", "onnx", "ml-envcheck"):
        try:
            versions.append(version(name))
        except PackageNotFoundError:
            versions.append("")
    digest.update(json.dumps([settings, versions], sort_keys=True).encode())
    return digest.hexdigest()


def _from_cache(key: str) -> Conversion | None:
    folder = os.path.join(_cache_folder(), key)
    try:
        with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
    except (OSError, ValueError):
        return None
    return Conversion(
        path=os.path.join(folder, "model.onnx"),
        route=result.get("route", ""),
        names=tuple(result.get("names", ())),
        extra=tuple(result.get("extra", ())),
        cached=True,
        versions={"tf2onnx": result.get("version", "")},
    )


def _to_cache(key: str, folder: str) -> None:
    """Keep a clean conversion; a cache that cannot be written is no failure."""
    target = os.path.join(_cache_folder(), key)
    try:
        os.makedirs(_cache_folder(), exist_ok=True)
        scratch = tempfile.mkdtemp(dir=_cache_folder())
        for name in ("model.onnx", "result.json"):
            shutil.copy(os.path.join(folder, name), scratch)
        os.replace(scratch, target)
    except OSError:
        pass
