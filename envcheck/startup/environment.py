"""The environment part of a self-test: against the seal first, by the rules where need be.

CPython 3.9 and the standard library alone as long as no rule is run.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from envcheck.catalogue import declaration, keys_of
from envcheck.embedding.carriers import carried_by, is_model
from envcheck.errors import EXIT_UNDETERMINED, UsageError
from envcheck.facts import Fact
from envcheck.fingerprint.document import Fingerprint
from envcheck.fingerprint.files import SIZE_LIMIT, read_bounded
from envcheck.probing.host import Host
from envcheck.probing.run import builtin_probes
from envcheck.startup.budget import Budget, OutOfTime
from envcheck.startup.checked import Checked
from envcheck.startup.judged import stated_otherwise
from envcheck.startup.looking import Look, look
from envcheck.startup.seal import Seal, differences, read_seal
from envcheck.startup.stamp import COVERED, stamp

if TYPE_CHECKING:
    from envcheck.probing.distributions import Distribution
    from envcheck.startup.journal import Journal
    from envcheck.startup.settings import Settings

__all__ = ["check_environment", "stamp_of"]

_FRAMEWORKS = ("keras", "tensorflow", "tf_nightly", "torch", "onnxruntime", "ort_nightly")
"""How the metadata folders begin that the probe of frameworks reads."""
_FOR_PROBES = 2 / 3
"""The part of the budget that probes may use, so that one that hangs leaves time to judge."""


class _NarrowHost(Host):
    """A host that shows only the distributions of frameworks; the stamp vouches for the rest."""

    @property
    def distributions(self) -> list[Distribution]:
        return [
            dist
            for dist in super().distributions
            if dist.entry.lower().replace("-", "_").startswith(_FRAMEWORKS)
        ]


def check_environment(settings: Settings, journal: Journal, budget: Budget) -> Checked:
    """Return what the comparison came to.

    Raises EnvcheckError where it cannot be done, and OutOfTime where the budget ends before it
    is known what differs.
    """
    if not (settings.train or settings.model):
        raise UsageError(
            "neither a train fingerprint nor a model that carries one is named",
            place="envcheck selftest",
            hint="use --train FILE or --model MODEL, or set ENVCHECK_TRAIN or ENVCHECK_MODEL",
        )
    models = [settings.model] if settings.model else []

    def see() -> tuple[Seal | None, Look, list[str]]:
        seal = read_seal(settings.seal) if settings.seal else None
        probes = Budget(budget.left * _FOR_PROBES)
        if seal is None:
            return None, look(Host(models=models), probes), []
        return seal, _look_by_seal(seal, models, probes), _no_longer(seal, settings)

    seal, seen, other = budget.within(see)
    if seal is not None:
        found = differences(seal.facts, seen.facts)
        if not found and not other and not seen.late:
            journal.write(
                "info", "sealed", seal=seal.place, facts=len(seen.facts), **_outcome(seal)
            )
            return Checked(how="sealed", details={"accepted": seal.outcome})
        for name in other:
            journal.write("warning", "difference", fact=name,
                          problem="is not the one that the seal was made with")  # fmt: skip
        for item in journal.some(found):
            journal.write("info", "difference", fact=item.key, accepted=_shown(item.accepted),
                          here=_shown(item.here))  # fmt: skip
    return _judged(settings, journal, budget, seen, seal)


def _judged(
    settings: Settings, journal: Journal, budget: Budget, seen: Look, seal: Seal | None
) -> Checked:
    from envcheck.startup.judging import judge

    late = []
    if seen.late:
        late.append(f"timeout: the budget ended before the probes {', '.join(seen.late)}")
        journal.write("warning", "timeout", probes=seen.late)
    try:
        done = budget.within(lambda: judge(settings, seen.facts, seal))
    except OutOfTime:
        late.append(f"timeout: no rule was checked within the budget of {settings.budget:g} s")
        journal.write("warning", "timeout", problem=late[-1])
        return Checked(frozenset((EXIT_UNDETERMINED,)), "rules", late)
    return done.told(journal, late)


def stamp_of(deploy: Fingerprint) -> str:
    """Return the stamp of this interpreter's distributions if a fingerprint speaks of them."""
    host = Host()
    seen = look(host, Budget(), COVERED).facts
    covered = {key: fact for key, fact in deploy.facts.items() if _is_covered(key)}
    return stamp(host) if covered and not differences(covered, seen) else ""


def _outcome(seal: Seal) -> dict[str, Any]:
    return {name: seal.outcome.get(name) for name in ("errors", "warnings", "rules_checked")}


def _no_longer(seal: Seal, settings: Settings) -> list[str]:
    """Return what the judgement rested on at release and is stated otherwise now."""
    train = [] if _train_sha256(settings) == seal.train_sha256 else ["train"]
    return train + stated_otherwise(settings.stated, seal.judged)


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


def _shown(fact: Fact | None) -> Any:
    if fact is None:
        return "(none)"
    return fact.value if fact.is_ok else f"({fact.state.replace('_', ' ')})"
