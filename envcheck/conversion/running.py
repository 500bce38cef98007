"""`envcheck.parity()`: convert where needed, compare layer by layer, and name the culprit."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from envcheck.conversion.assembling import failed_conversion, report_of, shown_inputs
from envcheck.conversion.converting import Conversion, Job, convert, export_live
from envcheck.conversion.faults import faults_of
from envcheck.conversion.inputs import Samples, given, read_inputs, specs_of
from envcheck.conversion.inventing import invent
from envcheck.conversion.investigation import Investigation, investigate
from envcheck.conversion.models import (
    describe_file,
    has_custom_classes,
    import_keras,
    import_modules,
    load_keras,
)
from envcheck.conversion.optimisations import try_levels
from envcheck.conversion.planning import plan_of
from envcheck.conversion.runtimes.discovery import open_file
from envcheck.conversion.runtimes.protocol import Failure
from envcheck.conversion.verdicts import judge
from envcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envcheck.conversion.inputs import Spec
    from envcheck.conversion.planning import Plan
    from envcheck.findings import Report

__all__ = ["compare_files", "parity"]


def parity(  # noqa: PLR0913 - keyword-only settings, each with a default
    reference: Any,
    candidate: str | os.PathLike[str] | None = None,
    *,
    inputs: Any = None,
    to: str = "onnx",
    imports: Sequence[str] = (),
    allow_code: bool = False,
    repro: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **settings: Any,
) -> Report:
    """Return the report of a layer-by-layer comparison across a conversion.

    `reference` is a Keras model, a `.keras` or `.h5` file, a SavedModel folder, or a trace file;
    `candidate` a converted file or a trace; without one the reference is converted here, in a
    process of its own. `inputs` are samples: an array, a list or dict of arrays, or the path of an
    `.npz` or `.npy` file; without them some are invented from a fixed seed, and the report says
    which. `imports` are modules or files that register custom classes; `allow_code` lets Lambda
    code in the file run. `repro` names a folder to write a reproduction of the first fault to.

    `settings`: `runtime` (a name; by the file's ending), `level` (none, or all: also judge what
    the runtime's optimisations change), `provider`, `threads`, `opset` (15), `noise` (float64,
    spread or off), `tolerance` (a relative L2 error in place of the measured one), `budget` (bytes
    of layer outputs per side in memory), `most_faults` (8), `cache` (True: of conversions),
    `isolated` (True), `time_limit` (seconds) and `memory_limit` (bytes; 0: most of what is free),
    both of the conversion and of the comparison, each by itself.

    Files are loaded and run in a process of its own, within the limits, so that a crash of native
    code or a lack of memory there becomes a finding. A live model cannot leave this process, nor
    can files whose custom classes are registered in this process alone: there, as with
    `isolated=False`, such a crash ends this process.

    Raises InputError, UsageError and MissingExtra.
    """
    plan = plan_of(
        inputs=inputs, to=to, imports=imports, allow_code=allow_code, repro=repro,
        settings=settings, progress=progress,
    )  # fmt: skip
    target = None if candidate is None else os.fspath(candidate)
    if not isinstance(reference, str | os.PathLike):
        import_keras()
        place = f"the live model {getattr(reference, 'name', '')}".strip()
        return _from_model(reference, place, target, plan)
    source = os.fspath(reference)
    if _is_trace(source):
        return _from_traces(source, target, plan)
    if plan.isolated and not has_custom_classes():
        from envcheck.conversion.isolation import compare_isolated

        return compare_isolated(source, target, plan, to=to, settings=settings)
    return compare_files(source, target, plan)


def _from_traces(source: str, target: str | None, plan: Plan) -> Report:
    if target is None or not _is_trace(target):
        raise UsageError("a trace is compared with another trace", place=source)
    from envcheck.conversion.trace_comparison import compare_traces

    return compare_traces(source, target, plan.options)


def _is_trace(path: str) -> bool:
    from envcheck.conversion.traces import is_trace

    return is_trace(path)


def compare_files(source: str, target: str | None, plan: Plan) -> Report:
    """Return the report of a comparison of files, made in this process."""
    facts = describe_file(source)
    if target is not None and not os.path.exists(target):
        describe_file(target)
    plan.options.progress("loading the reference")
    if facts.get("format") == "savedmodel":
        from envcheck.conversion.runtimes.savedmodel import load_reference

        import_keras()
        return _from_model(load_reference(source), source, target, plan)
    import_modules(plan.imports)
    model = load_keras(source, allow_code=plan.allow_code)
    return _from_model(model, source, target, plan)


def _from_model(model: Any, source: str, target: str | None, plan: Plan) -> Report:
    samples, specs = _samples(model, plan.inputs)
    plan.options.tell({"inputs": shown_inputs(samples), "note": samples.note})
    if target is not None:
        return _compare(model, samples, source, target, plan)
    folder = tempfile.mkdtemp(prefix="envcheck-")
    try:
        plan.options.progress("converting to ONNX")
        conversion = _converted(model, source, samples, specs, folder, plan)
        plan.options.tell({"waiting": False})
        if not conversion.path:
            return failed_conversion(conversion, samples, source, _paths(model))
        return _compare(model, samples, source, conversion.path, plan, conversion)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _samples(model: Any, inputs: Any) -> tuple[Samples, tuple[Spec, ...]]:
    specs, form = specs_of(model)
    if hasattr(model, "envcheck_specs"):
        specs, form = model.envcheck_specs, model.envcheck_form
    if inputs is None:
        return invent(model, specs, form), specs
    if isinstance(inputs, str | os.PathLike):
        place = os.fspath(inputs)
        return given(read_inputs(place), specs, form, place), specs
    return given(inputs, specs, form), specs


def _converted(
    model: Any,
    source: str,
    samples: Samples,
    specs: Sequence[Spec],
    folder: str,
    plan: Plan,
) -> Conversion:
    from envcheck.conversion.inputs import Spec

    if not specs:
        specs = tuple(
            Spec(name=name, shape=(None, *value.shape[1:]), dtype=_dtype(value))
            for name, value in zip(samples.names, samples.values, strict=True)
        )
    job = Job(
        source=source, kind="keras", specs=tuple(specs), form=samples.form, opset=plan.opset,
        imports=tuple(os.path.abspath(n) if os.path.isfile(n) else n for n in plan.imports),
        allow_code=plan.allow_code,
    )  # fmt: skip
    if os.path.isdir(source):
        plan.options.tell({"waiting": True})
        return convert(replace(job, kind="savedmodel"), folder, plan.limits, use_cache=False)
    if os.path.isfile(source):
        plan.options.tell({"waiting": True})
        return convert(job, folder, plan.limits, use_cache=plan.cache)
    try:
        saved, names = export_live(model, specs, samples.form, folder)
    except Exception as problem:  # noqa: BLE001 - tracing runs the user's layers
        return Conversion(problem=f"{type(problem).__name__}: {problem}")
    job = replace(job, source=saved, kind="savedmodel")
    made = convert(job, folder, plan.limits, use_cache=False)
    return replace(made, names=tuple(names))


def _dtype(value: Any) -> str:
    return "string" if value.dtype.kind in "OSU" else str(value.dtype)


def _compare(
    model: Any,
    samples: Samples,
    source: str,
    path: str,
    plan: Plan,
    conversion: Conversion | None = None,
) -> Report:
    shown = path if conversion is None else _name_of(source)
    plan.options.progress("loading the candidate")
    try:
        candidate = open_file(path, replace(plan.settings, level="none"), plan.runtime)
    except Failure as failure:
        found = Investigation(samples=samples, verdict="load-fail", failure=failure)
        return report_of(
            found, reference=source, candidate=shown, identity={}, conversion=conversion
        )
    names = conversion.names if conversion else ()
    found = investigate(model, candidate, samples, plan.options, names=names)
    try:
        if plan.settings.level == "all":
            plan.options.progress("trying the runtime's optimisations")
            found.optimised = try_levels(found, path, plan.settings)
            found.verdict = judge(found)
        faults = faults_of(found)
        report = report_of(
            found, reference=source, candidate=shown, identity=candidate.identity(),
            conversion=conversion, faults=faults,
        )  # fmt: skip
        extra = [found.optimised.note] if found.optimised and found.optimised.note else []
        if plan.repro is not None:
            from envcheck.conversion.reproduction import write_reproduction

            extra += write_reproduction(found, faults, plan.repro)
        return _with_notes(report, extra)
    finally:
        found.close()


def _name_of(source: str) -> str:
    return f"{os.path.splitext(os.path.basename(source.rstrip('/')))[0] or 'model'}.onnx"


def _with_notes(report: Report, notes: list[str]) -> Report:
    from envcheck.records import replace as changed

    return changed(report, notes=(*report.notes, *notes)) if notes else report


def _paths(model: Any) -> list[str]:
    layers = getattr(model, "_flatten_layers", None)
    return [layer.name for layer in layers()] if layers else []
