"""Compare a live reference with a loaded candidate on given samples, from gate to verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from envcheck.conversion.batches import BatchProblem, other_batches, told_problem
from envcheck.conversion.calls import INPUT
from envcheck.conversion.forcing import local_errors
from envcheck.conversion.gate import Pairing, pair_inputs
from envcheck.conversion.input_causes import input_cause
from envcheck.conversion.localisation import MOST_FAULTS, Culprit, localise_faults
from envcheck.conversion.naming import layer_in
from envcheck.conversion.noise import Noise, measure_noise
from envcheck.conversion.outputs import OutputResult, compare_output, pair_outputs
from envcheck.conversion.precision import Precision, find_precision
from envcheck.conversion.recording import record
from envcheck.conversion.runtimes.protocol import Failure
from envcheck.conversion.stability import unstable_sides
from envcheck.conversion.stores import DEFAULT_BUDGET, Store
from envcheck.conversion.surviving import failing_nodes
from envcheck.conversion.tracing import Comparison
from envcheck.conversion.unexercised import Hidden, hidden_changes
from envcheck.conversion.verdicts import judge
from envcheck.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envcheck.conversion.alignment import Match
    from envcheck.conversion.arrays import Array
    from envcheck.conversion.calls import Port, Recording
    from envcheck.conversion.causes import Cause
    from envcheck.conversion.inputs import Samples
    from envcheck.conversion.optimisations import Optimised
    from envcheck.conversion.runtimes.protocol import Candidate

__all__ = ["Investigation", "Options", "compare_recorded", "investigate"]

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a comparison is made.

    `noise` is float64, spread or off; `tolerance` overrides the measured one; `tell` takes what is
    known already while the comparison goes on.
    """

    noise: str = "float64"
    tolerance: float | None = None
    budget: int = DEFAULT_BUDGET
    most_faults: int = MOST_FAULTS
    progress: Progress = field(default=lambda _: None)
    tell: Callable[[dict[str, Any]], None] = field(default=lambda _: None)


@dataclass(kw_only=True)
class Investigation:
    """Everything that one comparison found out. Later steps are missing where one ended it."""

    samples: Samples
    verdict: str = "inconclusive"
    problems: list[str] = field(default_factory=list)
    failure: Failure | None = None
    recording: Recording | None = None
    comparison: Comparison | None = None
    noise: Noise = field(default_factory=lambda: Noise(method="fixed"))
    precision: Precision | None = None
    culprits: list[Culprit] = field(default_factory=list)
    outputs: list[OutputResult] = field(default_factory=list)
    kinds: dict[int, str] = field(default_factory=dict)
    matches: dict[Port, Match] = field(default_factory=dict)
    natural: dict[Port, float] = field(default_factory=dict)
    local: dict[Port, float] = field(default_factory=dict)
    input_fault: tuple[str, Cause] | None = None
    failing_layer: str = ""
    failing: list[int] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)
    optimised: Optimised | None = None
    hidden: list[Hidden] = field(default_factory=list)
    batches: list[BatchProblem] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)

    @property
    def coverage(self) -> dict[str, int]:
        """The number of calls by kind, before any healing."""
        counts = dict.fromkeys(("exact", "alias", "folded", "open"), 0)
        for kind in self.kinds.values():
            name = {"merged": "folded", "constant": "folded"}.get(kind, kind)
            counts[name] = counts.get(name, 0) + 1
        return counts

    def close(self) -> None:
        """Give up the values of both sides."""
        for store in self.stores:
            store.close()


def investigate(
    model: Any,
    candidate: Candidate,
    samples: Samples,
    options: Options = Options(),
    *,
    names: Sequence[str] = (),
) -> Investigation:
    """Compare a Keras model with a candidate. `names` are the candidate's input names in order."""
    found = Investigation(samples=samples)
    options.progress("recording the reference")
    store, seen = Store(options.budget), Store(options.budget)
    found.stores = [store, seen]
    found.recording = _recorded(model, samples, store)
    options.progress("running the candidate")
    pairing = pair_inputs(candidate, samples, names)
    if not _runs(found, candidate, pairing, seen):
        return found
    outputs = _outputs(found, candidate, seen)
    if outputs is None:
        return found
    options.progress("measuring the noise floor")
    found.noise = measure_noise(model, samples, found.recording, method=options.noise)
    found.comparison = Comparison(
        recording=found.recording,
        candidate=candidate,
        store=seen,
        feeds=pairing.feeds,
        outputs=tuple(outputs),
        tolerance=_tolerance(found.noise, options.tolerance),
        input_matches=pairing.matches,
        failing=found.failing,
    )
    options.progress("running both sides again")
    found.unstable = unstable_sides(model, candidate, found, pairing.feeds)
    _finish(found, options)
    _try_batches(found, model, options, names)
    return found


def _try_batches(found: Investigation, model: Any, options: Options, names: Sequence[str]) -> None:
    """Run both sides on other numbers of samples, where they agree on the given one."""
    comparison, samples = found.comparison, found.samples
    if comparison is None or found.verdict not in ("match", "noise", "absorbed", "precision"):
        return
    options.progress("trying other batch sizes")

    def bind(values: tuple[Array, ...]) -> Pairing:
        return pair_inputs(comparison.candidate, replace(samples, values=values), names)

    known = [(o.tensor, o.name, max(o.tolerance, 10 * o.error)) for o in found.outputs]
    found.batches = other_batches(model, comparison.candidate, samples, bind, known)
    fixed = [problem for problem in found.batches if problem.message]
    if fixed:
        found.verdict = "interface"
        found.problems += [told_problem(fixed, samples)]
    else:
        found.verdict = judge(found)


def _recorded(model: Any, samples: Samples, store: Store) -> Recording:
    try:
        return record(model, samples.packed(), store, names=samples.names)
    except Exception as problem:
        first = next((line.strip() for line in str(problem).splitlines() if line.strip()), "")
        raise InputError(
            f"does not run on these inputs: {type(problem).__name__}: {first[:300]}",
            place=f"the reference {getattr(model, 'name', '')}".strip(),
            hint="give samples that it takes with --inputs",
        ) from problem


def _runs(found: Investigation, candidate: Candidate, pairing: Pairing, seen: Store) -> bool:
    """Load and run the candidate; judge it where that ends the comparison."""
    assert found.recording is not None
    try:
        candidate.verify()
    except Failure as failure:
        found.failure = failure
    if found.failure is None and pairing.problems:
        found.verdict, found.problems = "interface", pairing.problems
        return False
    if not pairing.problems:
        partial = candidate.run_all(pairing.feeds, seen).failure
        found.failure = found.failure or partial
    if found.failure is not None:
        found.verdict = f"{found.failure.stage}-fail"
        found.failing_layer = _failing_layer(found.recording, candidate, found.failure)
        if pairing.problems or candidate.graph is None:
            return found.failure.stage != "load"
        found.failing = failing_nodes(candidate, seen)
    return True


def compare_recorded(
    found: Investigation,
    recording: Recording,
    candidate: Candidate,
    seen: Store,
    options: Options,
) -> None:
    """Compare two sides that ran already; nothing is run, and the noise is a fixed guess."""
    found.recording = recording
    outputs = _outputs(found, candidate, seen)
    if outputs is None:
        return
    found.noise = Noise(method="fixed", reason="traces hold no model that could be run in float64")
    found.comparison = Comparison(
        recording=recording,
        candidate=candidate,
        store=seen,
        feeds={},
        outputs=tuple(outputs),
        tolerance=_tolerance(found.noise, options.tolerance),
    )
    _finish(found, options)


def _finish(found: Investigation, options: Options) -> None:
    options.progress("aligning the layers")
    _compare_layers(found, options)
    found.verdict = judge(found)


def _failing_layer(recording: Recording, candidate: Candidate, failure: Failure) -> str:
    """Return the path of the layer whose node failed, or nothing."""
    nodes = candidate.graph.nodes if candidate.graph is not None else []
    names = [name for node in nodes for name in (node.name, *node.output)]
    return layer_in(failure.node, [call.path for call in recording.calls], names)


def _before_failure(found: Investigation) -> list[Culprit]:
    """Return the culprits that come before the layer at which the candidate failed.

    A wrong shape may only be noticed by a later layer; what comes after it is no fault.
    """
    comparison = found.comparison
    if not found.failing_layer or found.recording is None or comparison is None:
        return found.culprits
    if found.failure is None or not comparison.failing:
        return found.culprits
    calls = found.recording.calls
    limit = min(call.id for call in calls if call.path == found.failing_layer)
    return [culprit for culprit in found.culprits if culprit.calls[0] <= limit]


def _tolerance(noise: Noise, fixed: float | None) -> Callable[[Port], float]:
    if fixed is None:
        return noise.tolerance
    return lambda _: fixed


def _outputs(found: Investigation, candidate: Candidate, seen: Store) -> list[str] | None:
    """Return the candidate's outputs in the reference's order; judge where that is impossible."""
    assert found.recording is not None
    names = [feed.name for feed in candidate.outputs]
    wanted = [tuple(found.recording.value(port).shape) for port in found.recording.outputs]
    if found.failure is not None and any(name not in seen for name in names):
        return names if len(names) == len(wanted) else None
    values = {name: seen.get(name) for name in names}
    if len(names) != len(wanted) and found.failure is not None:
        return None
    if len(names) != len(wanted):
        found.verdict = "interface"
        found.problems.append(f"it has {len(names)} outputs, the reference {len(wanted)}")
        return None
    chosen = pair_outputs(found.recording, names, values)
    if chosen is None and found.failure is not None:
        return names
    if chosen is None:
        found.verdict = "interface"
        shapes = [tuple(values[name].shape) for name in names]
        found.problems.append(f"its outputs have shapes {shapes}, the reference's {wanted}")
    return chosen


def _compare_layers(found: Investigation, options: Options) -> None:
    comparison, recording = found.comparison, found.recording
    assert comparison is not None
    assert recording is not None
    comparison.align()
    found.kinds = dict(comparison.kinds)
    clean = dict(comparison.matches)
    _compare_outputs(found)
    options.tell({"outputs": [output.to_json() for output in found.outputs],
                  "agree": all(output.agrees for output in found.outputs)})  # fmt: skip
    if "open" in comparison.kinds.values():
        found.precision = find_precision(comparison)
    if found.precision is None and "open" in comparison.kinds.values():
        options.progress("locating the faults")
        found.input_fault = _input_fault(found)
        if found.input_fault is None:
            found.culprits = localise_faults(comparison, options.most_faults)
            found.culprits = _before_failure(found)
    options.progress("measuring every layer by itself")
    if found.precision is not None:
        found.culprits = list(found.precision.culprits)
        found.local = found.precision.local
        matches = found.precision.matches
    else:
        matches = {**clean, **comparison.matches}
        found.local = local_errors(comparison, matches)
        found.kinds = {
            call: "open" if kind == "healed" else kind for call, kind in comparison.kinds.items()
        }
        found.hidden = hidden_changes(comparison)
    found.matches = matches
    found.natural = _natural(comparison, matches)


def _input_fault(found: Investigation) -> tuple[str, Cause] | None:
    """Return the input that the candidate expects in another form, and in which."""
    assert found.comparison is not None
    if all(output.agrees for output in found.outputs):
        return None
    frontier = found.comparison.frontier(skip=set())
    cause = input_cause(found.comparison, frontier[0]) if frontier else None
    return (found.samples.names[cause[0]], cause[1]) if cause else None


def _natural(comparison: Comparison, matches: dict[Port, Match]) -> dict[Port, float]:
    """Return the error of each matched value in the plain run, without any injection."""
    from envcheck.conversion.arrays import relative_error

    found = {}
    for port, match in matches.items():
        if port.call != INPUT and match.tensor in comparison.store:
            seen, wanted = comparison.store.get(match.tensor), comparison.recording.value(port)
            if seen.size == wanted.size:
                found[port] = relative_error(seen, match.layout.apply(wanted, seen.shape))
    return found


def _compare_outputs(found: Investigation) -> None:
    comparison, recording = found.comparison, found.recording
    assert comparison is not None
    assert recording is not None
    for place, port in enumerate(recording.outputs):
        name = comparison.outputs[place]
        if not comparison.has(name):
            continue
        wanted, value = recording.value(port), comparison.store.get(name)
        found.outputs.append(
            compare_output(
                value.reshape(wanted.shape),
                wanted,
                name=recording.output_names[place],
                tensor=name,
                noise=found.noise.of(port),
                tolerance=comparison.tolerance(port),
            )
        )
