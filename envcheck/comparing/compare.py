"""Compare two fingerprints: build the graph, run the rules, make the report."""

from __future__ import annotations

from envcheck.comparing.accelerators import add_accelerators
from envcheck.comparing.artefacts import add_artefacts
from envcheck.comparing.conflicts import add_conflicts
from envcheck.comparing.graph import Graph
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.judging import judge
from envcheck.comparing.limits import add_limits
from envcheck.comparing.model_files import add_model_files
from envcheck.comparing.natives import add_natives
from envcheck.comparing.packages import add_packages, add_unchanged
from envcheck.comparing.properties import add_properties
from envcheck.comparing.reachability import add_reachability
from envcheck.comparing.requirement_breaks import add_requirement_breaks
from envcheck.comparing.resources import add_baselines, add_resources
from envcheck.comparing.rulesets import Rules, builtin_index, builtin_rules, load_rules
from envcheck.comparing.sides import About
from envcheck.comparing.variables import add_variables
from envcheck.comparing.wheels import add_wheels
from envcheck.findings import Report
from envcheck.fingerprint import Fingerprint
from envcheck.policy.model import Policy

BUILT_IN_ENGINE = "builtin"
EYE = "eye"
ENGINES = (BUILT_IN_ENGINE, EYE)
"""The engines by name: EYE confirms what the built-in one derives."""

__all__ = ["ENGINES", "build_graph", "builtin_index", "builtin_rules", "compare_fingerprints"]


def build_graph(
    train: Fingerprint,
    deploy: Fingerprint,
    policy: Policy | None = None,
    *,
    everything: bool = False,
) -> Graph:
    """Return the facts that the rules read.

    The built-in rules read differences; `everything` adds what is the same on both sides and
    facts that only rules of a user read.
    """
    policy = policy or Policy()
    graph = Graph(train, deploy, policy=policy)
    here, there = Inventory("train", train, policy), Inventory("deploy", deploy, policy)
    graph.notes.extend(add_reachability(graph, here, there).notes)
    add_artefacts(graph)
    add_model_files(graph, here, there)
    add_properties(graph, everything=everything)
    add_packages(graph, here, there)
    if everything:
        add_unchanged(graph, here, there)
    add_requirement_breaks(graph, here, there)
    add_conflicts(graph, here, there)
    add_wheels(graph, here, there)
    add_baselines(graph, here, there)
    add_resources(graph, here, there)
    add_accelerators(graph, here, there)
    add_variables(graph, here, there)
    add_natives(graph, here, there)
    add_limits(graph, here, there)
    return graph


def compare_fingerprints(
    train: Fingerprint,
    deploy: Fingerprint,
    *,
    strict: bool = False,
    policy: Policy | None = None,
    rules: Rules | None = None,
    engine: str = BUILT_IN_ENGINE,
) -> Report:
    """Return the report of the environment stage for a pair of fingerprints.

    Without a `policy` the rules apply as they are, without `rules` those that ship with
    envcheck do; the engine `eye` has EYE confirm what the built-in engine derives. Under
    `strict`, an error-level rule that cannot be decided makes the verdict `undetermined`, and
    waivers and baseline entries that nothing needs any more are errors.
    """
    rules = rules or load_rules()
    graph = build_graph(train, deploy, policy, everything=rules.added)
    judgement = judge(graph, rules.book, rules.index, strict=strict)
    notes = list(graph.notes)
    if engine == EYE:
        from envcheck.comparing.reference import confirm_with_eye

        notes.append(confirm_with_eye(judgement.inference, rules.book))
    return Report(
        notes=tuple(notes),
        findings=judgement.findings,
        undetermined=judgement.undetermined,
        rules=judgement.rules,
        checked=("environment",),
        inputs={"train": About(train), "deploy": About(deploy)},
        strict=strict,
    )
