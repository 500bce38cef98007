"""The closed vocabulary of the graph: every word a rule may use, with its meaning.

What a comparison asserts and what rules read is held together by a test: a predicate that
nothing asserts, or that no rule reads, fails it.
"""

from __future__ import annotations

from envcheck.rulebook.words import Words

__all__ = ["ASSERTED", "DERIVED", "RULE_TABLES", "words"]

ASSERTED: dict[str, str] = {
    "relation": "how the deploy side stands to the train side: ec:same, ec:different, ec:older, "
    "ec:newer, ec:onTrainOnly, ec:onDeployOnly, ec:inapplicable, ec:excluded, ec:undetermined",
    "trainValue": "value of a compared fact on the train side",
    "deployValue": "value of a compared fact on the deploy side",
    "distance": "first component in which two versions differ: ec:epoch, ec:major, ec:minor, "
    "ec:patch, ec:pre, ec:post, ec:local, ec:unordered",
    "lost": "members of a set that the deploy side does not have, as text",
    "packageList": "what the list of packages is: ec:complete, ec:partial, ec:intended",
    "runsModelsWith": "a package of an environment that can run models",
    "servesWith": "a package of an environment that runs exported models",
    "unpicklesWith": "a package of an environment that reads pickles",
    "modelPackages": "the packages of an environment that can run models, as text",
    "name": "name of a package or import",
    "role": "the part a package plays: role:runtime, role:numeric …",
    "trainVersion": "version on the train side",
    "deployVersion": "version on the deploy side",
    "presence": "ec:undetermined for a package that a list with gaps does not name",
    "variant": "another package stands in: ec:sameFunction or ec:otherBuild",
    "standIn": "name of the package that stands in",
    "preRelease": "true if the deploy side has a pre-release and the train side has not",
    "pickleBreak": "what is known to break for pickled models between the two versions",
    "picklePartialBreak": "the same for some kinds of models only",
    "pickleExact": "the pair was measured and gave the same numbers",
    "releasesApart": "minor releases between the two versions; another major counts as ten",
    "content": "the files of one release and build differ",
    "requirements": "ec:readable, ec:undetermined or ec:inapplicable for an environment",
    "requirement": "how a requirement is broken: ec:missing or ec:unsatisfied",
    "requires": "the package that is required",
    "requiredByName": "name of the package that declares a requirement",
    "specifier": "the declared range of versions",
    "wanted": "a package with the versions that would do, for a command",
    "reach": "of the declaring package: ec:onPath, ec:offPath or ec:unproven",
    "pythonRange": "Requires-Python that excludes the interpreter",
    "python": "version of the interpreter it excludes",
    "wheelMisfit": "why a wheel does not fit its host: ec:interpreter, ec:system, "
    "ec:architecture, ec:libcFamily, ec:libcVersion",
    "needs": "what a wheel needs",
    "has": "what the host has",
    "interpreter": "whether the interpreter is known: ec:known or ec:undetermined",
    "machine": "whether system and architecture are known",
    "libc": "whether the C library is known",
    "compiledPackages": "true if an environment has compiled packages",
    "rivals": "packages that provide the same import, as text",
    "rivalNames": "the same packages with a space between, for a command",
    "duplicateVersions": "versions of doubled metadata, as text",
    "editable": "true for an editable installation",
    "partnerRelease": "ec:same or ec:different minor release as the package it extends",
    "partner": "name of the package that an extension extends",
    "partnerVersion": "version of that package",
    "threadPools": "ec:bounded, ec:overcommitted or ec:undetermined",
    "threadPoolsOf": "libraries with a thread pool, as text",
    "threads": "threads in a pool",
    "quota": "processors that the container may use",
    "quotaThreads": "the quota rounded up to whole threads",
    "checks": "the question that a check answers, such as ec:onnxIr or ec:driverFloor",
    "outcome": "its answer: ec:fits, ec:misfit or ec:undetermined",
    "what": "what a check has found, in words",
    "openQuestion": "why a check stays open, in words",
    "use": "of a package by the recorded model files: ec:proven, ec:unused, or ec:unproven where "
    "only the code that serves them may need it; else assumed",
    "judgedBy": "ec:file where model files tell what the versions of a package only hint at",
    "modelCode": "ec:absent where every model file of an environment is known to hold no code",
    "baseline": "whether the processor's features are known for a package that needs some",
    "lacksBaseline": "an instruction set that a package needs and the processor has not",
    "preExisting": "true if the train side has the same violation",
    "allowedDrift": "how far a version may drift by the policy: ec:driftNone, ec:driftPatch, "
    "ec:driftMinor, ec:driftMajor or ec:driftAny",
    "demand": "how a package that the policy requires is met: ec:met, ec:missing, "
    "ec:unsatisfied, ec:unversioned or ec:undetermined",
    "banned": "whether a package that the policy forbids is there: ec:present, ec:absent or "
    "ec:undetermined",
    "requirementText": "a requirement as the policy states it",
    "gpu": "whether there is a GPU to use: ec:available, ec:unavailable or ec:undetermined",
    "policySeverity": "the severity that the policy gives to a rule",
    "runs": "true for a rule that is enabled, said where there are waivers or a baseline",
    "acceptance": "what accepts findings: ec:waiver or ec:baselined",
    "accepts": "the rule whose findings it accepts",
    "validity": "ec:active or ec:expired",
    "covers": "a subject whose findings it accepts",
    "coversAll": "true if it accepts the findings about any subject",
    "waivedRule": "id of the rule, as text",
    "waivedFact": "the facts it is for, as text",
    "reason": "why a finding was accepted",
    "expires": "last day of a waiver",
    "strictness": "ec:strict under --strict",
    "trainText": "version of a package on the train side as it is written",
    "deployText": "version of a package on the deploy side as it is written",
}
"""Predicates that the comparison asserts."""

DERIVED: dict[str, str] = {
    "explains": "a subject whose finding accounts for the findings of another subject",
    "absorbs": "a rule whose finding accounts for that of another rule on the same subject",
    "allowedIn": "a rule about version drift whose finding on this subject the policy allows",
    "resetBy": "a rule whose severity on this subject comes from the policy",
    "raisedBy": "a rule whose report on this waiver or entry is an error under --strict",
    "silences": "the subject of a finding that a waiver or baseline entry accepts",
    "mayConcern": "the subject of an open outcome that a waiver or baseline entry may accept",
    "notices": "a rule that reports on the policy itself, here a waiver or baseline entry",
}
"""Predicates that rules derive, beside the three outcomes."""

RULE_TABLES: dict[str, str] = {
    "admits": "distances that an allowed drift permits",
    "exceededBy": "distances that an allowed drift forbids",
    "failsOn": "rules about the policy itself that --strict does not let pass",
    "refusedBy": "rules that take a version drift for an error",
    "settles": "what is known of a required package: ec:whetherInstalled, ec:whichVersion",
    "warnedOfBy": "rules that warn of a version drift or just list it",
    "atLeast": "order of distances",
    "consequence": "what another major release of a role breaks, in words",
    "buildProperty": "a compared fact that tells builds of the interpreter apart, in words",
    "machineMisfit": "kinds of misfit that concern the machine",
    "majorChange": "ec:maybreak for roles whose major releases break callers",
    "minorChange": "ec:changesresults for roles whose minor releases change results",
    "missing": "what it means when a package of a role is absent: ec:fatal or ec:maybe",
    "onModelPath": "true for roles between input and prediction",
    "tolerates": "distances that a role tolerates without consequence",
}
"""Predicates of the tables inside rule files."""


def words() -> Words:
    """Return the vocabulary in the form that the rule compiler checks against."""
    known = {**ASSERTED, **DERIVED, **RULE_TABLES}
    return Words(
        predicates=frozenset(f"ec:{name}" for name in known),
        reserved=frozenset(f"ec:{name}" for name in ASSERTED),
    )
