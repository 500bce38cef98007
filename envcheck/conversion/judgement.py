"""From what a comparison found to findings of the conversion stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.conversion.naming import layer_in
from envcheck.conversion.rules import RULES, finding_of
from envcheck.conversion.workarounds import workaround
from envcheck.findings import Finding, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envcheck.conversion.complaints import Complaint
    from envcheck.conversion.converting import Conversion
    from envcheck.conversion.faults import Fault
    from envcheck.conversion.investigation import Investigation

__all__ = ["RULES", "conversion_findings", "findings_of", "undecided"]

LEAST_COVERAGE = 0.9
_DOUBT = " Replacing its value did not heal what follows, so the fault may lie in what it hands on."
_UNTRIED = " No value could be replaced in this candidate, so what follows was not tried."
_FREE_BATCH = (
    "Convert again with an unknown (None) batch size, and look for a Reshape or Tile that holds a"
    " number of samples."
)
_FAILURES = {"load": "CNV002", "run": "CNV003"}


def findings_of(
    found: Investigation, faults: Sequence[Fault], candidate: str, conversion: Conversion | None
) -> list[Finding]:
    """Return the findings of a comparison, the cause of the verdict first."""
    made: list[Finding] = []
    if found.verdict == "interface":
        made += [_interface(problem, candidate) for problem in found.problems]
    if found.failure is not None:
        made.append(_failure(found, faults, candidate, conversion))
    if found.input_fault is not None:
        made.append(_input_fault(found, candidate))
    absorbed = found.verdict == "absorbed"
    visible = found.comparison is not None and found.comparison.candidate.parts
    doubt = _DOUBT if visible else _UNTRIED
    told = [fault for fault in faults if not (found.failure is not None and fault.crashes)]
    made += [
        _hidden(fault, candidate)
        if fault.hidden
        else _fault(fault, candidate, doubt, absorbed=absorbed)
        for fault in told
    ]
    if found.precision is not None:
        made.append(_precision(found, candidate))
    elif found.verdict == "precision":
        made.append(_half_reference(found, candidate))
    made += _batches(found, candidate)
    made += _optimised(found, candidate)
    made += _outputs(found, candidate, explained=bool(made))
    made += _coverage(found, candidate)
    if conversion is not None and found.failure is None:
        made += [_complaint(item, found, candidate) for item in conversion.complaints]
    return made


def conversion_findings(
    conversion: Conversion, reference: str, paths: Sequence[str]
) -> list[Finding]:
    """Return the findings about a conversion that gave no file."""
    complaint = next(iter(conversion.complaints), None)
    layer = layer_in(complaint.node, paths) if complaint else ""
    return [
        finding_of(
            "CNV001",
            title=f"{reference} cannot be converted to ONNX: {_first_line(conversion.problem)}",
            detail="The converter gave no file, so there is nothing to deploy.",
            fix=workaround(complaint.op if complaint else "", conversion.problem)
            or "Replace the layer named, or convert by hand and give the file as CANDIDATE.",
            subject=reference,
            layer=layer or None,
            evidence=[("converter", line) for line in conversion.errors[:4]],
        )
    ]


def undecided(found: Investigation) -> list[Outcome]:
    """Return what keeps a comparison from a verdict."""
    if not found.unstable:
        return []
    return [
        Outcome(
            rule="CNV030",
            title="outputs that differ from run to run",
            subject=" and ".join(found.unstable),
            severity="error",
            reason=f"{' and '.join(found.unstable)} gives other outputs for the same inputs, so no"
            " difference between the sides means anything",
            stage="conversion",
        )
    ]


def _fault(fault: Fault, candidate: str, doubt: str, *, absorbed: bool) -> Finding:
    named = " and ".join(dict.fromkeys(fault.layers))
    classes = " and ".join(dict.fromkeys(fault.classes))
    ratio = fault.local / fault.noise if fault.noise else float("inf")
    causes = "; ".join(cause.text for cause in fault.causes[:3])
    doubt = "" if fault.confirmed else doubt
    effect = (
        "On these inputs the outputs still agree; on others they need not."
        if absorbed
        else "Everything that is computed from it inherits the error."
    )
    return finding_of(
        "CNV011" if absorbed else "CNV010",
        title=f"{classes} {named} computes something else: {causes}",
        detail=f"Given the reference's own inputs, it is off by {fault.local:.2g} (relative L2),"
        f" {_times(ratio)} the rounding noise of {fault.noise:.1g}. {effect}{doubt}",
        fix=fault.advice,
        subject=f"layer {fault.layers[0]}",
        layer=fault.layers[0],
        tensor=fault.tensors[0] or None,
        confidence=0.97 if fault.confirmed else 0.6,
        expected=f"relative error up to {30 * fault.noise:.1g}",
        seen=f"{fault.local:.3g}",
        because=tuple(cause.text for cause in fault.causes),
        evidence=[("kind", fault.kind), ("local_error", _number(fault.local)),
                  ("noise", _number(fault.noise)), ("candidate", candidate)],
    )  # fmt: skip


def _hidden(fault: Fault, candidate: str) -> Finding:
    return finding_of(
        "CNV011",
        title=f"{fault.classes[0]} {fault.layers[0]} holds other weights, and no sample shows it:"
        f" {fault.causes[0].text}",
        detail="On these inputs the changed elements are multiplied by zero or not looked up, so"
        " every value agrees; on others it will show.",
        fix=fault.advice,
        subject=f"layer {fault.layers[0]}",
        layer=fault.layers[0],
        because=tuple(cause.text for cause in fault.causes),
        evidence=[("kind", fault.kind), ("candidate", candidate)],
    )


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio < 1e6 else "far above"


def _number(value: float) -> float | None:
    from envcheck.conversion.outputs import finite

    return finite(value)


def _interface(problem: str, candidate: str) -> Finding:
    return finding_of(
        "CNV004",
        title=f"{candidate} does not fit the reference: {problem}",
        detail="The two cannot be called with the same inputs, or give different outputs in number"
        " or shape; often the candidate belongs to another model.",
        fix=_FREE_BATCH
        if "fixed at export" in problem
        else "Check that the candidate was converted from this reference; a constant that became an"
        " input is folded back by converting through a SavedModel.",
        subject=candidate,
    )


def _batches(found: Investigation, candidate: str) -> list[Finding]:
    off = [problem for problem in found.batches if not problem.message]
    if not off or found.verdict == "interface":
        return []
    worst = max(off, key=lambda problem: problem.error)
    given = found.samples.values[0].shape[0]
    return [
        finding_of(
            "CNV016",
            title=f"on batches of {' or '.join(str(p.size) for p in off)} samples {candidate}"
            f" computes something else: output {worst.output} is off by {worst.error:.2g}",
            detail=f"On {given} samples it agrees with the reference. Something in it depends on"
            " how many samples come together: a size fixed at export, or an operation that mixes"
            " samples.",
            fix=_FREE_BATCH,
            subject=f"output {worst.output} of {candidate}",
            evidence=[(f"error at {p.size}", _number(p.error)) for p in off],
        )
    ]


def _optimised(found: Investigation, candidate: str) -> list[Finding]:
    divergence = found.optimised.divergence if found.optimised else None
    if divergence is None:
        return []
    at = f"; the first node that differs is {divergence.node}" if divergence.node else ""
    by = f", by its optimiser {divergence.optimiser}" if divergence.optimiser else ""
    without = f", or without {divergence.optimiser}" if divergence.optimiser else ""
    return [
        finding_of(
            "CNV017",
            title=f"optimised at level {divergence.level}{by}, {candidate} computes something else:"
            f" output {divergence.output} is off by {divergence.error:.2g}",
            detail="Run as it is, the file agrees with the reference; the runtime rewrites it"
            f" before it runs{at}. Unless a session is told otherwise, it uses level all, which"
            " includes this.",
            fix=f"Deploy with graph optimisations at level {divergence.below}{without}, and report"
            " it to the runtime's maintainers.",
            subject=f"output {divergence.output} of {candidate}",
            tensor=divergence.tensor or None,
            evidence=[("level", divergence.level), ("optimiser", divergence.optimiser),
                      ("node", divergence.node)],
        )
    ]  # fmt: skip


def _failure(
    found: Investigation, faults: Sequence[Fault], candidate: str, conversion: Conversion | None
) -> Finding:
    failure = found.failure
    assert failure is not None
    guilty = next((fault for fault in faults if fault.crashes), None)
    paths = [call.path for call in found.recording.calls] if found.recording else []
    complaint = next(iter(conversion.complaints), None) if conversion else None
    node = failure.node or (complaint.node if complaint else "")
    layer = found.failing_layer or layer_in(node, paths)
    if guilty is not None and (guilty.confirmed or not layer):
        layer = guilty.layers[0]
    where = f" at {layer}" if layer else (f" at node {node}" if node else "")
    what = _first_line(failure.message)
    advice = workaround(complaint.op if complaint else "", failure.message)
    if guilty is not None and guilty.confirmed:
        what = f"{guilty.classes[0]} {layer} is at fault, {guilty.causes[0].text}"
        where, advice = "", guilty.advice
    verb = "load" if failure.stage == "load" else "run"
    return finding_of(
        _FAILURES[failure.stage],
        title=f"{candidate} does not {verb}{where}: {what}",
        detail="The runtime refuses the file"
        + (f"; the converter had warned: {complaint.text}" if complaint else "")
        + ". Deployed, it fails at the first request.",
        fix=advice
        or "Replace the operation named by ones that the converter supports, and convert again.",
        subject=candidate,
        layer=layer or None,
        tensor=node or None,
        because=tuple(cause.text for cause in guilty.causes) if guilty is not None else (),
        evidence=[("message", failure.message[:500])],
    )


def _input_fault(found: Investigation, candidate: str) -> Finding:
    from envcheck.conversion.causes import ADVICE

    assert found.input_fault is not None
    name, cause = found.input_fault
    return finding_of(
        "CNV014",
        title=f"input {name}: {cause.text}",
        detail="Fed so, the candidate computes what the reference computes, so the layers are"
        " innocent.",
        fix=ADVICE[cause.kind],
        subject=f"input {name} of {candidate}",
        layer=name,
        evidence=[("kind", cause.kind)],
    )


def _precision(found: Investigation, candidate: str) -> Finding:
    precision = found.precision
    assert precision is not None
    extent = "all layers with weights"
    if precision.affected < precision.weighted:
        extent = f"{precision.affected} of {precision.weighted} layers with weights"
    beyond = "beyond that, the layers named are at fault"
    rest = beyond if precision.culprits else "no single layer is at fault"
    return finding_of(
        "CNV012",
        title=f"{candidate} computes {extent} in {precision.dtype} precision",
        detail=f"By themselves they are off by about {precision.median:.1g} (relative L2), as"
        f" rounding to {precision.dtype} makes it; {rest}.",
        fix="Convert without lowering the precision; or accept it by measuring the task's own"
        " metric on real samples, and keep sensitive layers in float32.",
        subject=candidate,
        seen=precision.dtype,
        evidence=[("median_local_error", _number(precision.median))],
    )


def _half_reference(found: Investigation, candidate: str) -> Finding:
    worst = max(found.outputs, key=lambda output: output.error)
    return finding_of(
        "CNV012",
        title=f"the reference computes in half precision, and {candidate} differs by"
        f" {worst.error:.1g}",
        detail="Both sides round to 11 bits or fewer at every layer, in another order, so they"
        " cannot agree more closely; no layer stands out.",
        fix="Set the layers' dtype policy to float32 before converting, or accept it by measuring"
        " the task's own metric on real samples.",
        subject=candidate,
        evidence=[("error", _number(worst.error)), ("unit_roundoff", found.noise.unit)],
    )


def _outputs(found: Investigation, candidate: str, *, explained: bool) -> list[Finding]:
    off = [output for output in found.outputs if not output.agrees]
    if off and not explained:
        worst = max(off, key=lambda output: output.error)
        flips = f"; {worst.flips} of {worst.decisions} decisions flip" if worst.flips else ""
        return [
            finding_of(
                "CNV015",
                title=f"output {worst.name} is off by {worst.error:.2g}{flips}",
                detail="No layer could be named: the layers of this candidate are not visible.",
                fix="Give the Keras model as reference and an ONNX file as candidate: then every"
                " layer is compared.",
                subject=f"output {worst.name} of {candidate}",
            )
        ]
    if found.verdict != "noise":
        return []
    worst = max(found.outputs, key=lambda output: output.error / max(output.noise, 1e-30))
    return [
        finding_of(
            "CNV013",
            title=f"output {worst.name} is off by {worst.error:.2g}, more than rounding usually is",
            detail=f"The reference's own rounding moves it by {worst.noise:.1g}. No layer stands"
            " out.",
            fix="Nothing, unless thresholds sit closer than that.",
            subject=f"output {worst.name} of {candidate}",
        )
    ]


def _coverage(found: Investigation, candidate: str) -> list[Finding]:
    total = len(found.kinds)
    open_calls = sum(kind == "open" for kind in found.kinds.values())
    if found.verdict not in ("match", "noise") or not total:
        return []
    if (total - open_calls) / total >= LEAST_COVERAGE:
        return []
    return [
        finding_of(
            "CNV020",
            title=f"{open_calls} of {total} layer calls have no counterpart in {candidate}",
            detail="The outputs agree, and most layers could not be compared one by one.",
            fix="Compare on samples of your own with --inputs.",
            subject=candidate,
        )
    ]


def _complaint(complaint: Complaint, found: Investigation, candidate: str) -> Finding:
    paths = [call.path for call in found.recording.calls] if found.recording else []
    layer = layer_in(complaint.node, paths)
    return finding_of(
        "CNV005",
        title=f"the converter complained{f' about {layer}' if layer else ''}: {complaint.text}",
        detail="It wrote the file all the same; what it could not convert may be missing in it.",
        fix=workaround(complaint.op, complaint.text)
        or "Replace the operation, or look at the layer in the table.",
        subject=f"{candidate} {complaint.op or complaint.node}".strip(),
        layer=layer or None,
    )


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 240 else f"{line[:240]}..."
