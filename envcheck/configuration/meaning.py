"""What a shape cannot tell: whether rules, roles, requirements, dates and profiles make sense.

Values of the wrong type are left out here; their shape has been reported.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from envcheck.configuration.documents import Document
from envcheck.configuration.lines import Path
from envcheck.configuration.mistakes import Mistakes, did_you_mean
from envcheck.policy.model import Wanted
from envcheck.probing.distributions import normalise

__all__ = ["ALWAYS_ON", "Known", "check_meaning", "expiry", "wanted"]

ALWAYS_ON = "ENV099"
"""The rule that applies the policy."""
PYTHON = "python"
_ROLE = "role:"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(.*)\Z", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What names may be used: rules, those among them that can be waived, roles and profiles."""

    rules: Collection[str]
    waivable: Collection[str]
    roles: Collection[str]
    profiles: Collection[str]


def check_meaning(document: Document, known: Known, today: date, mistakes: Mistakes) -> None:
    """Report every value that has the right type and makes no sense."""
    _Check(document, known, today, mistakes).run()


def wanted(text: str) -> Wanted | str:
    """Return a requirement such as `numpy>=1.26,<3`, or what is wrong with it."""
    found = _REQUIREMENT.match(text)
    if found is None:
        return "is no requirement"
    name, specifier = normalise(found[1]), found[2].strip()
    if not specifier:
        return Wanted(name=name)
    if specifier[0] in "[;@":
        what = {"[": "extras", ";": "a marker", "@": "an address"}[specifier[0]]
        return f"has {what}, which the policy does not read"
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(specifier)
    except InvalidSpecifier:
        return f"has no valid version range: {specifier}"
    return Wanted(name=name, specifier=specifier.replace(" ", ""))


def expiry(value: Any) -> date | None:
    """Return the day of an expiry as TOML or a text gives it, or None."""
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


class _Check:
    """One run over one document."""

    def __init__(self, document: Document, known: Known, today: date, mistakes: Mistakes) -> None:
        self._document = document
        self._known = known
        self._today = today
        self._mistakes = mistakes

    def run(self) -> None:
        """Check everything."""
        data = self._document.data
        self._policy(("policy",), data.get("policy"))
        profiles = data.get("profiles")
        for name, table in profiles.items() if isinstance(profiles, dict) else ():
            self._policy(("profiles", name), table)
            self._profile(("profiles", name), table)
        if isinstance(data.get("profile"), str):
            self._one_of(("profile",), data["profile"], self._known.profiles, "profile")
        self._waivers(data.get("waivers"), self._most_days())

    def _say(self, path: Path, message: str, hint: str = "") -> None:
        self._mistakes.add(self._document.place(path), message, hint)

    def _one_of(self, path: Path, word: str, known: Collection[str], what: str) -> None:
        if word not in known:
            few = f"the {what}s are {', '.join(sorted(known))}" if len(known) < 20 else ""
            self._say(path, f"unknown {what} {word!r}", did_you_mean(word, known, few))

    def _most_days(self) -> int:
        days = self._document.data.get("max-waiver-days", 180)
        if not isinstance(days, int) or isinstance(days, bool):
            return 180
        if not 1 <= days <= 3650:
            self._say(("max-waiver-days",), f"max-waiver-days: {days} is not from 1 to 3650")
            return 180
        return days

    def _policy(self, path: Path, table: Any) -> None:
        if not isinstance(table, dict):
            return
        for name, role in _texts(table.get("roles")):
            self._package((*path, "roles", name), name)
            self._one_of((*path, "roles", name), role, self._known.roles, "role")
        for name, _ in _texts(table.get("drift")):
            self._drifting((*path, "drift", name), name)
        for key in ("require", "forbid"):
            self._requirements((*path, key), table.get(key))
        for index, name in _items(table.get("roots")):
            self._package((*path, "roots", index), name)
        for name, _ in _texts(table.get("severity")):
            self._rule((*path, "severity", name), name)
        for index, name in _items(table.get("disable")):
            self._rule((*path, "disable", index), name)
            if name == ALWAYS_ON:
                message = f"{ALWAYS_ON} cannot be disabled: it applies the policy itself"
                self._say((*path, "disable", index), message)

    def _rule(self, path: Path, name: str) -> None:
        self._one_of(path, name, self._known.rules, "rule")

    def _package(self, path: Path, name: str) -> None:
        if not _NAME.match(name):
            self._say(path, f"{name!r} is no name of a package", "write it as pip lists it")

    def _drifting(self, path: Path, name: str) -> None:
        if name.startswith(_ROLE):
            self._one_of(path, name[len(_ROLE) :], self._known.roles, "role")
        elif name in self._known.roles:
            self._say(path, f"{name!r} is a role", f'write "{_ROLE}{name}"')
        else:
            self._package(path, name)

    def _requirements(self, path: Path, lines: Any) -> None:
        seen: set[str] = set()
        for index, line in _items(lines):
            found = wanted(line)
            if isinstance(found, str):
                self._say((*path, index), f"{line!r} {found}", 'write it like "numpy>=1.26,<3"')
            elif found.name in seen:
                hint = "join the ranges with a comma"
                self._say((*path, index), f"{found.name} is listed twice", hint)
            else:
                seen.add(found.name)

    def _profile(self, path: Path, table: Any) -> None:
        extends = table.get("extends") if isinstance(table, dict) else None
        if isinstance(extends, str) and extends:
            self._one_of((*path, "extends"), extends, self._known.profiles, "profile")

    def _waivers(self, waivers: Any, most: int) -> None:
        seen: set[tuple[str, str]] = set()
        for index, table in enumerate(waivers if isinstance(waivers, list) else ()):
            if not isinstance(table, dict):
                continue
            path: Path = ("waivers", index)
            rule, fact = table.get("rule"), table.get("fact", "")
            if isinstance(rule, str):
                self._waived(path, rule)
            if isinstance(rule, str) and isinstance(fact, str):
                if (rule, fact) in seen:
                    message = f"a second waiver of {rule} for {fact or 'any fact'}"
                    self._say(path, message, "keep one of them")
                seen.add((rule, fact))
            if isinstance(table.get("reason"), str) and not table["reason"].strip():
                self._say((*path, "reason"), "the reason is empty", "say why it is accepted")
            self._expires((*path, "expires"), expiry(table.get("expires")), most)

    def _waived(self, path: Path, rule: str) -> None:
        if rule in ("", "*"):
            hint = "a waiver names one rule; leave out the fact to accept it for all facts"
            self._say((*path, "rule"), f"{rule!r} is no rule", hint)
        elif rule in self._known.rules and rule not in self._known.waivable:
            message = f"{rule} reports on the policy itself and cannot be waived"
            self._say((*path, "rule"), message, f"[policy] disable = [{rule!r}] turns it off")
        else:
            self._rule((*path, "rule"), rule)

    def _expires(self, path: Path, day: date | None, most: int) -> None:
        last = self._today + timedelta(days=most)
        if day is not None and day > last:
            self._say(
                path,
                f"expires {day.isoformat()}, more than {most} days ahead",
                f"at most {last.isoformat()} today; max-waiver-days sets the limit",
            )


def _texts(table: Any) -> Iterator[tuple[str, str]]:
    """Yield the keys of a table with their values, those that are no texts left out."""
    for key, value in table.items() if isinstance(table, dict) else ():
        if isinstance(value, str):
            yield key, value


def _items(values: Any) -> Iterator[tuple[int, str]]:
    """Yield the texts of a list with their positions."""
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, str):
            yield index, value
