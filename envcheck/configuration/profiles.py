"""Profiles: named policies, shipped or of the project, and the policy that they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from envcheck.comparing.tables import read_rule_file
from envcheck.configuration.documents import Document
from envcheck.configuration.lines import Path
from envcheck.configuration.meaning import PYTHON, expiry, wanted
from envcheck.configuration.mistakes import Mistakes
from envcheck.policy.baseline import Baseline
from envcheck.policy.model import Citation, Policy, Waiver, Wanted
from envcheck.probing.distributions import normalise

__all__ = ["SHIPPED", "Layer", "chain_of", "check_profiles", "policy_of", "waivers_of"]

SHIPPED = ("bit-exact", "default", "fl4deep", "gpu-required", "onnx-serving")
"""The profiles in `rules/profiles/`."""


@dataclass(frozen=True)
class Layer:
    """One table of a policy: its name, its keys, and where each key stands."""

    name: str
    table: Mapping[str, Any]
    place: Callable[[Path], str]


def check_profiles(document: Document, mistakes: Mistakes) -> None:
    """Report profiles that take a shipped name, and chains that never end."""
    own = _own_profiles(document)
    for name in own:
        place = document.place(("profiles", name))
        if name in SHIPPED:
            hint = f'choose another name, and write: extends = "{name}"'
            mistakes.add(place, f"profile {name!r} ships with envcheck", hint)
        seen = [name]
        while (above := _extends(own, seen[-1])) is not None:
            if above in seen:
                told = " → ".join((*seen, above))
                mistakes.add(place, f"profile {name!r} extends itself: {told}")
                break
            seen.append(above)


def _own_profiles(document: Document) -> Mapping[str, Any]:
    found = document.data.get("profiles")
    return found if isinstance(found, dict) else {}


def _extends(own: Mapping[str, Any], name: str) -> str | None:
    table = own.get(name)
    above = table.get("extends") if isinstance(table, dict) else None
    return above if isinstance(above, str) and above else None


def chain_of(document: Document, name: str) -> list[Layer]:
    """Return a profile with all that it extends, the first ancestor first."""
    own = _own_profiles(document)
    layers: list[Layer] = []
    todo: str | None = name
    while todo is not None:
        layers.append(_layer(document, own, todo))
        todo = _extends(own, todo)
    return layers[::-1]


def _layer(document: Document, own: Mapping[str, Any], name: str) -> Layer:
    if name in own:
        return Layer(name, own[name], lambda path: document.place(("profiles", name, *path)))
    import tomllib

    table = tomllib.loads(read_rule_file(f"profiles/{name}.toml"))
    return Layer(name, table, lambda _: f"profile {name}")


def policy_of(
    layers: Iterable[Layer], waivers: tuple[Waiver, ...], baseline: Baseline | None
) -> Policy:
    """Return the policy that the layers make, later ones over earlier ones.

    Tables and lists add up; a package that is listed again has the later version range.
    """
    maps: dict[str, dict[str, str]] = {"roles": {}, "drift": {}, "severity": {}}
    lists: dict[str, dict[str, Wanted]] = {"require": {}, "forbid": {}, "roots": {}}
    disabled: set[str] = set()
    cited: dict[str, Citation] = {}
    gpu = False
    names = []
    for layer in layers:
        names.append(layer.name)
        for kind, known in maps.items():
            for key, text in layer.table.get(kind, {}).items():
                name = _name(kind, key)
                known[name] = text
                cited[f"{kind}.{name}"] = Citation(value=text, place=layer.place((kind, key)))
        for kind, listed in lists.items():
            for index, line in enumerate(layer.table.get(kind, ())):
                one = wanted(line)
                if isinstance(one, Wanted):
                    listed[one.name] = one
                    place = layer.place((kind, index))
                    cited[f"{kind}.{one.name}"] = Citation(value=one.text, place=place)
        disabled.update(layer.table.get("disable", ()))
        if "require-gpu" in layer.table:
            gpu = layer.table["require-gpu"]
            cited["require-gpu"] = Citation(value=gpu, place=layer.place(("require-gpu",)))
    return Policy(
        profiles=tuple(name for name in names if name),
        roles=maps["roles"],
        drift=maps["drift"],
        severity=maps["severity"],
        require=tuple(lists["require"].values()),
        forbid=tuple(lists["forbid"].values()),
        roots=tuple(lists["roots"]),
        disable=frozenset(disabled),
        require_gpu=gpu,
        waivers=waivers,
        baseline=baseline,
        cited=cited,
    )


def _name(kind: str, key: str) -> str:
    """Return a key as the comparison knows it: packages have one spelling."""
    if kind == "severity" or key == PYTHON or key.startswith("role:"):
        return key
    return normalise(key)


def waivers_of(document: Document) -> tuple[Waiver, ...]:
    """Return the waivers of a document that has been found sound."""
    made = []
    for index, table in enumerate(document.data.get("waivers", ())):
        day = expiry(table["expires"])
        assert day is not None, "the shape was checked"
        made.append(
            Waiver(
                rule=table["rule"],
                reason=" ".join(table["reason"].split()),
                expires=day,
                fact=table.get("fact", ""),
                owner=table.get("owner", ""),
                place=document.place(("waivers", index)),
            )
        )
    return tuple(made)
