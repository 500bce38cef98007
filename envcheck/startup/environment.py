"""The environment part of a self-test: against the seal first, by the rules where need be.

CPython 3.9 and the standard library alone as long as no rule is run.
"""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING, Any

from envcheck.catalogue import declaration, keys_of
from envcheck.embedding.carriers import carried_by, is_model
from envcheck.errors import (
    EXIT_CONFORMS,
    EXIT_DOES_NOT_CONFORM,
    EXIT_UNDETERMINED,
    NothingChecked,
    UsageError,
)
from envcheck.facts import Fact, Facts
from envcheck.fingerprint.document import Fingerprint
from envcheck.fingerprint.files import SIZE_LIMIT, read_bounded
from envcheck.probing.host import Host
from envcheck.probing.run import builtin_probes
from envcheck.records import field, record
from envcheck.startup.budget import Budget
from envcheck.startup.looking import Look, look
from envcheck.startup.seal import Seal, differences, name_of, read_seal
from envcheck.startup.stamp import COVERED, stamp

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.probing.distributions import Distribution
    from envcheck.startup.journal import Journal
    from envcheck.startup.settings import Settings

__all__ = ["Checked", "check_environment", "stamp_of"]

_FRAMEWORKS = ("keras", "tensorflow", "tf_nightly", "torch", "onnxruntime", "ort_nightly")
"""How the metadata folders begin that the probe of frameworks reads."""


@record
class Checked:
    """What one part of a self-test came to."""

    code: int = EXIT_CONFORMS
    how: str = ""
    problems: list[str] = field(default_factory=list)
    warnings: int = 0
    details: dict[str, Any] = field(default_factory=dict)


class _NarrowHost(Host):
    """A host that shows only the distributions of frameworks; the stamp vouches for the rest."""

    @property
    def distributions(self) -> list[Distribution]:
        return [
            dist
            for dist in super().distributions
            if dist.entry.lower().replace("-", "_").startswith(_FRAMEWORKS)
        ]


def check_environment(settings: Settings, journal: Journal) -> Checked:
    """Return what the comparison came to. Raises EnvcheckError where it cannot be done."""
    budget = Budget(settings.budget)
    if not (settings.train or settings.model):
        raise UsageError(
            "neither a train fingerprint nor a model that carries one is named",
            place="envcheck selftest",
            hint="use --train FILE or --model MODEL, or set ENVCHECK_TRAIN or ENVCHECK_MODEL",
        )
    models = [settings.model] if settings.model else []
    seal = read_seal(settings.seal) if settings.seal else None
    if seal is None:
        return _judge(settings, journal, look(Host(models=models), budget), None)
    seen = _look_by_seal(seal, models, budget)
    found = differences(seal.facts, seen.facts)
    same_train = _train_sha256(settings) == seal.train_sha256
    if not found and same_train and not seen.late:
        journal.write("info", "sealed", seal=seal.place, facts=len(seen.facts), **_outcome(seal))
        return Checked(how="sealed", details={"accepted": seal.outcome})
    if not same_train:
        journal.write("warning", "difference", fact="train",
                      problem="is not the fingerprint that the seal was made with")  # fmt: skip
    for item in journal.some(found):
        journal.write("info", "difference", fact=item.key, accepted=_shown(item.accepted),
                      here=_shown(item.here))  # fmt: skip
    return _judge(settings, journal, seen, seal)


def stamp_of(deploy: Fingerprint) -> str:
    """Return the stamp of this interpreter's distributions if a fingerprint speaks of them."""
    host = Host()
    seen = look(host, Budget(), COVERED).facts
    covered = {key: fact for key, fact in deploy.facts.items() if _is_covered(key)}
    return stamp(host) if covered and not differences(covered, seen) else ""


def _outcome(seal: Seal) -> dict[str, Any]:
    return {name: seal.outcome.get(name) for name in ("errors", "warnings", "rules_checked")}


def _look_by_seal(seal: Seal, models: list[str], budget: Budget) -> Look:
    """Look at what can have changed; facts that the stamp vouches for are taken as accepted."""
    foreign = any(declaration(key) is None for key in seal.facts)
    narrow = _NarrowHost(models=models)
    if foreign or not seal.stamp or stamp(narrow) != seal.stamp:
        return look(Host(models=models), budget)
    names = [name for name in builtin_probes() if name not in COVERED]
    seen = look(narrow, budget, names)
    for key, fact in seal.facts.items():
        if _is_covered(key):
            seen.facts[key] = fact
    return seen


def _is_covered(key: str) -> bool:
    family = key.partition(".")[0] + ".*"
    return any(key in keys_of(name) or family in keys_of(name) for name in COVERED)


def _train_sha256(settings: Settings) -> str:
    """Return the digest of the train fingerprint's file, which is not parsed for it."""
    if settings.train and not is_model(settings.train):
        data = read_bounded(settings.train, SIZE_LIMIT)
    else:
        found = carried_by(settings.train or settings.model)
        data = found.data if found else b""
    return hashlib.sha256(data).hexdigest()


def _judge(settings: Settings, journal: Journal, seen: Look, seal: Seal | None) -> Checked:
    """Run the rules, and drop what was accepted at release."""
    if sys.version_info < (3, 11):
        raise NothingChecked(
            "judging by rules needs Python 3.11 or newer; under this one only an environment"
            " that is as the seal has it can be confirmed",
            place="envcheck selftest",
            hint="make the seal in the environment that is started: compare TRAIN live --seal",
        )
    from envcheck.configuration import load_configuration
    from envcheck.pairing import compare

    configuration = load_configuration(settings.config or None)
    deploy = Fingerprint(_sorted(seen.facts), {"role": "deploy"}, place="live")
    report = compare(
        _train_side(settings),
        deploy,
        rules=() if configuration.rules is None else configuration.rules,
        policy=configuration.policy,
    )
    return _checked(report, journal, seen, seal.findings if seal else frozenset())


def _train_side(settings: Settings) -> Any:
    if settings.train:
        return settings.train
    from envcheck.embedding.carriers import extract

    return extract(settings.model)


def _checked(report: Report, journal: Journal, seen: Look, accepted: frozenset[str]) -> Checked:
    findings = [finding for finding in report.active if name_of(finding) not in accepted]
    errors = [finding for finding in findings if finding.severity == "error"]
    warnings = [finding for finding in findings if finding.severity == "warning"]
    infos = [item for item in findings if item.severity == "info" and not item.pre_existing]
    for finding in journal.some([*errors, *warnings, *infos]):
        journal.write(finding.severity, "finding", rule=finding.rule, fact=finding.subject,
                      train=finding.train, deploy=finding.deploy, title=finding.title,
                      fix=finding.fix.command or finding.fix.text)  # fmt: skip
    if report.undetermined:
        reasons = sorted({outcome.reason for outcome in report.undetermined})
        journal.write("info", "undetermined", rules=len(report.undetermined),
                      reasons=journal.some(reasons)[:3])  # fmt: skip
    problems = [f"error {item.rule} {item.subject}: {item.title}" for item in errors]
    code = EXIT_DOES_NOT_CONFORM if errors else EXIT_CONFORMS
    if seen.late:
        text = f"timeout: the budget ended before the probes {', '.join(seen.late)}"
        journal.write("warning", "timeout", probes=seen.late)
        problems.append(text)
        code = code or EXIT_UNDETERMINED
    if report.rules_checked == 0:
        problems.append("no rule could be decided")
        code = code or EXIT_UNDETERMINED
    details = {"rules_checked": report.rules_checked, "undetermined": len(report.undetermined)}
    return Checked(code, "rules", problems, len(warnings), details)


def _shown(fact: Fact | None) -> Any:
    if fact is None:
        return "(none)"
    return fact.value if fact.is_ok else f"({fact.state.replace('_', ' ')})"


def _sorted(facts: Facts) -> Facts:
    return dict(sorted(facts.items()))
