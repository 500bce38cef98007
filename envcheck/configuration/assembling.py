"""The policy and the options of a file, checked as a whole so that one run tells every mistake."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from envcheck.comparing.judging import judges_environments
from envcheck.comparing.rulesets import Rules, load_rules
from envcheck.comparing.tables import table
from envcheck.configuration.documents import Document, include, read_document
from envcheck.configuration.meaning import Known, check_meaning
from envcheck.configuration.mistakes import Mistakes
from envcheck.configuration.options import OPTIONS, Setting
from envcheck.configuration.profiles import (
    SHIPPED,
    Layer,
    chain_of,
    check_profiles,
    policy_of,
    waivers_of,
)
from envcheck.configuration.shape import check_shape
from envcheck.errors import ConfigError
from envcheck.policy.baseline import Baseline, read_baseline
from envcheck.policy.model import Policy

__all__ = ["Assembled", "assemble"]

_FILES = ("waivers", "baseline")


@dataclass(frozen=True, kw_only=True)
class Assembled:
    """What a file says: its options with their places, and the policy."""

    settings: Mapping[str, Setting]
    policy: Policy
    rules: Rules | None


def assemble(
    file: str | None,
    stated: Mapping[str, Setting],
    *,
    folder: str,
    today: date,
    with_baseline: bool,
) -> Assembled:
    """Return what a configuration file says, with options that were stated elsewhere over it."""
    mistakes = Mistakes()
    document = read_document(file, mistakes) if file else Document("")
    settings = _settings(document)
    _overlay(document, stated, folder)
    include(document, mistakes)
    if file or {"waivers", "profiles"} & document.data.keys():
        check_shape(document, mistakes)
    check_profiles(document, mistakes)
    folders = _rule_folders(document, stated, folder)
    rules = load_rules(folders)
    check_meaning(document, _known(document, rules), today, mistakes)
    baseline = _baseline(document, mistakes) if with_baseline else None
    mistakes.raise_if_any()
    layers = [
        *chain_of(document, document.data.get("profile", "default")),
        Layer("", document.data.get("policy", {}), lambda path: document.place(("policy", *path))),
    ]
    policy = policy_of(layers, waivers_of(document), baseline)
    return Assembled(settings=settings, policy=policy, rules=rules if folders else None)


def _settings(document: Document) -> dict[str, Setting]:
    """Return the options that a file sets; files are named relative to the file itself."""
    found = {}
    for name in OPTIONS:
        if name not in document.data:
            continue
        value = document.data[name]
        if name in _FILES:
            value = document.resolve((name,), value) if isinstance(value, str) else document.file
        elif OPTIONS[name].kind == "list":
            value = tuple(_texts(value))
            if name == "rules":
                value = tuple(document.resolve((name,), one) for one in value)
        found[name] = Setting(value=value, source=document.place((name,)))
    return found


def _overlay(document: Document, stated: Mapping[str, Setting], folder: str) -> None:
    """Put profile, waivers and baseline that were stated elsewhere over those of the file."""
    for name in ("profile", *_FILES):
        if name not in stated:
            continue
        value: Any = stated[name].value
        if name in _FILES or value.endswith(".toml"):
            value = os.path.join(folder, value)
            here = os.getcwd() + os.sep
            value = value.removeprefix(here)
        document.data[name] = value
        document.places = {path: at for path, at in document.places.items() if path[0] != name}
        document.places[(name,)] = stated[name].source


def _rule_folders(
    document: Document, stated: Mapping[str, Setting], folder: str
) -> tuple[str, ...]:
    """Return the folders with further rules: those that were stated, else those of the file."""
    if "rules" in stated:
        return tuple(os.path.join(folder, name) for name in stated["rules"].value)
    return tuple(document.resolve(("rules",), name) for name in _texts(document.data.get("rules")))


def _texts(value: Any) -> list[str]:
    """Return a text or the texts of a list; anything else is reported as a wrong shape."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]


def _known(document: Document, rules: Rules) -> Known:
    rulebook = rules.book
    own = document.data.get("profiles")
    return Known(
        rules=rulebook.ids,
        waivable=judges_environments(rulebook, rulebook.ids),
        roles=(*table("roles")["roles"], "transitive"),
        profiles=(*SHIPPED, *(own if isinstance(own, dict) else ())),
    )


def _baseline(document: Document, mistakes: Mistakes) -> Baseline | None:
    name = document.data.get("baseline")
    if not isinstance(name, str):
        return None
    try:
        return read_baseline(document.resolve(("baseline",), name))
    except ConfigError as problem:
        mistakes.add(problem.place, problem.problem, problem.hint)
        return None
