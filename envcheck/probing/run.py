"""Run the probes on a host. CPython 3.9, standard library."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterable
from functools import partial
from typing import Any, Callable

from envcheck.catalogue import PROBES, keys_of
from envcheck.facts import OK, STATES, Fact, Facts, error
from envcheck.probing.host import Host
from envcheck.probing.redaction import Redactor

__all__ = ["Probe", "builtin_probes", "plugin_probes", "run_probes", "runners"]

Probe = Callable[[Host], Facts]

ENTRY_POINT_GROUP = "envcheck.probes"
_SCALARS = frozenset((str, bool, int, type(None)))


def builtin_probes() -> list[str]:
    """Return the names of the probes that ship with envcheck, sorted."""
    package = importlib.import_module("envcheck.probes")
    names: set[str] = set()
    for folder in package.__path__:
        if os.path.isdir(folder):
            names.update(name[:-3] for name in os.listdir(folder) if name.endswith(".py"))
        else:
            import pkgutil

            names.update(module.name for module in pkgutil.iter_modules([folder]))
    return sorted(name for name in names if not name.startswith("_"))


def plugin_probes(host: Host) -> dict[str, Probe]:
    """Return the probes of other distributions, by `distribution:name`.

    Only for the running interpreter: code of another one is never loaded into this process.
    """
    out: dict[str, Probe] = {}
    if not host.live:
        return out
    for dist in host.distributions:
        if not dist.has("entry_points.txt"):
            continue
        text = dist.text("entry_points.txt") or ""
        if ENTRY_POINT_GROUP not in text:
            continue
        for name, target in _entry_points(text):
            out[f"{dist.name}:{name}"] = _lazy(target)
    return out


def _entry_points(text: str) -> Iterable[Any]:
    inside = False
    for raw in text.splitlines():
        line = raw.split("#", 1)[0].strip()
        if line.startswith("["):
            inside = line == f"[{ENTRY_POINT_GROUP}]"
        elif inside and "=" in line:
            name, _, target = line.partition("=")
            yield name.strip(), target.strip()


def _lazy(target: str) -> Probe:
    def probe(host: Host) -> Facts:
        module, _, attribute = target.partition(":")
        found: Any = importlib.import_module(module)
        for part in (attribute or "probe").split("."):
            found = getattr(found, part)
        facts: Facts = found(host)
        return facts

    return probe


def _load(name: str) -> Probe:
    probe: Probe = importlib.import_module(f"envcheck.probes.{name}").probe
    return probe


def run_probes(host: Host, names: Iterable[str] | None = None) -> Facts:
    """Return the facts of all probes, or of the named built-in ones, sorted by key.

    A probe that fails costs its own facts only: each of its keys becomes an `error` with the
    reason. Every value passes the redaction.
    """
    found: Facts = {}
    for name, run in runners(host, names).items():
        for key, fact in run().items():
            if key in found and name not in PROBES:
                continue
            found[key] = fact
    return dict(sorted(found.items()))


def runners(host: Host, names: Iterable[str] | None = None) -> dict[str, Callable[[], Facts]]:
    """Return the probes by name, each as a function that gives its facts, cleaned."""
    wanted = list(builtin_probes() if names is None else names)
    probes: dict[str, Callable[[], Probe]] = {name: partial(_load, name) for name in wanted}
    if names is None:
        for label, plugin in plugin_probes(host).items():
            probes[label] = lambda plugin=plugin: plugin  # type: ignore[misc]
    redactor = Redactor(host.environ)

    def run(name: str, load: Callable[[], Probe]) -> Facts:
        return {key: _cleaned(fact, redactor) for key, fact in _run_one(name, load, host).items()}

    return {name: partial(run, name, load) for name, load in probes.items()}


def _run_one(name: str, load: Callable[[], Probe], host: Host) -> Facts:
    """Run one probe; whatever it does wrong becomes `error` facts under its own keys."""
    declared = [key for key in keys_of(name) if not key.endswith("*")] or [f"probe.{name}"]
    try:
        facts = load()(host)
        problem = _malformed(facts)
        if problem is None:
            return facts
    except Exception as trouble:  # noqa: BLE001 - a probe never takes the capture down
        problem = f"{type(trouble).__name__}: {trouble}"
    return {key: error(f"probe {name} failed: {problem}") for key in declared}


def _malformed(facts: Any) -> str | None:
    if not isinstance(facts, dict):
        return f"returned {type(facts).__name__}, not facts by key"
    for key, fact in facts.items():
        if not isinstance(key, str) or "." not in key:
            return f"key {key!r} is not of the form group.name"
        if not isinstance(fact, Fact) or fact.state not in STATES:
            return f"{key} is not a fact"
        if fact.state == OK and not _is_json(fact.value):
            return f"the value of {key} is not plain JSON data"
    return None


def _is_json(value: Any) -> bool:
    kind = type(value)
    if kind in _SCALARS:
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return all(type(item) in _SCALARS or _is_json(item) for item in value)
    if not isinstance(value, dict):
        return isinstance(value, (str, int))
    return all(
        isinstance(key, str) and (type(item) in _SCALARS or _is_json(item))
        for key, item in value.items()
    )


def _cleaned(fact: Fact, redactor: Redactor) -> Fact:
    value = redactor.clean(fact.value)
    reason, source = redactor.text(fact.reason), redactor.text(fact.source)
    if value is fact.value and reason is fact.reason and source is fact.source:
        return fact
    return Fact(fact.state, value, reason, source)
