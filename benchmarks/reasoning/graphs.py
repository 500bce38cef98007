"""The two problems: one realistic system with 70 rules, and the Deep Taxonomy chain."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from envcheck.reasoning import Body, FactBase, Implication, Triple

__all__ = ["deep_taxonomy", "realistic"]

PACKAGES = 300
LAYERS = 100
ROLES = ("framework", "runtime", "numeric", "tool", "io", "plot")
ACTIVATIONS = ("relu", "softmax", "sigmoid", "linear")
SETTINGS = 15


def deep_taxonomy(depth: int) -> tuple[FactBase, list[Implication]]:
    """Return a chain of classes, each with two side classes, and the rule that climbs it."""
    base = FactBase([("ec:i", "rdf:type", "ec:n0")])
    for level in range(depth):
        for kind in "nij":
            base.add(f"ec:n{level}", "ec:subClassOf", f"ec:{kind}{level + 1}")
    return base, [_class_rule()]


def realistic() -> tuple[FactBase, list[Implication]]:
    """Return about 6,000 triples of one system in two environments, and 70 rules."""
    random = Random(1)
    base = FactBase([*_packages(random), *_settings(), *_layers(random), *_log(random)])
    rules = [*_library_rules(), *_setting_rules(), *_absence_rules(), *_layer_rules()]
    rules += [_class_rule(), *_root_cause_rules()]
    for rule in rules:
        base.add(f"rule:{rule.rule}", "ec:state", "ec:enabled")
    return base, rules


def _packages(random: Random) -> Iterator[Triple]:
    for i in range(PACKAGES):
        package, pair = f"pkg:package-{i}", f"pair:package-{i}"
        level = random.choice((0, 1, 2, 2, 3, 3, 3, 3))
        yield package, "ec:role", f"role:{random.choice(ROLES)}"
        yield package, "ec:name", f'"package-{i}'
        yield package, "rdf:type", f"kind:{i % 7}"
        yield pair, "rdf:type", "ec:VersionPair"
        yield pair, "ec:package", package
        yield pair, "ec:differsAt", str(level)
        for side in ("train", "deploy"):
            seen = f"{side}:package-{i}"
            version = f'"{i % 9}.{level if side == "deploy" else 0}.1'
            yield pair, f"ec:{side}Version", version
            yield seen, "ec:of", f"env:{side}"
            yield seen, "ec:package", package
            if side == "train" or i % 50:
                yield seen, "ec:installedIn", f"env:{side}"
                yield seen, "ec:hash", f'"{i * (3 if side == "deploy" and i % 11 == 0 else 1)}'
    for i in range(7):
        yield f"kind:{i}", "ec:subClassOf", f"kind:{i + 7}"
    for i, role in enumerate(ROLES):
        yield f"role:{role}", "ec:breaksAt", str(1 + i % 3)


def _settings() -> Iterator[Triple]:
    for i in range(SETTINGS):
        yield "env:train", f"ec:setting{i}", str(i)
        yield "env:deploy", f"ec:setting{i}", str(i + (i % 4 == 0))


def _layers(random: Random) -> Iterator[Triple]:
    for i in range(LAYERS):
        layer = f"layer:{i}"
        yield layer, "rdf:type", f"kind:{i % 7}"
        yield layer, "ec:next", f"layer:{i + 1}"
        yield layer, "ec:activation", f"act:{random.choice(ACTIVATIONS)}"
        yield layer, "ec:units", str(random.choice((1, 2, 10, 64, 128)))
        yield layer, "ec:dropout", repr(random.choice((0.0, 0.2, 0.5, 0.9)))


def _log(random: Random) -> Iterator[Triple]:
    for i in range(70):
        yield f"epoch:{i}", "ec:loss", repr(round(random.random() * 3, 4))


def _rule(
    name: str, body: list[Triple], tests: list[Triple], head: Triple, *absent: list[Triple]
) -> Implication:
    guard = (f"rule:{name}", "ec:state", "ec:enabled")
    return Implication(name, Body([guard, *body], tests), [head], [Body(b) for b in absent])


def _library_rules() -> Iterator[Implication]:
    for i in range(18):
        name = f"LIB{i:03}"
        body = [
            ("?pair", "rdf:type", "ec:VersionPair"),
            ("?pair", "ec:package", "?package"),
            ("?pair", "ec:trainVersion", "?a"),
            ("?pair", "ec:deployVersion", "?b"),
            ("?pair", "ec:differsAt", "?level"),
            ("?package", "ec:role", f"role:{ROLES[i % 6]}"),
            (f"role:{ROLES[i % 6]}", "ec:breaksAt", "?limit"),
        ]
        tests = [
            ("?level", "math:notGreaterThan", "?limit"),
            ("?level", "math:equalTo", str(i // 6)),
        ]
        yield _rule(name, body, tests, ("?package", "ec:violates", f"rule:{name}"))


def _setting_rules() -> Iterator[Implication]:
    for i in range(SETTINGS):
        name = f"SET{i:03}"
        body = [("env:train", f"ec:setting{i}", "?a"), ("env:deploy", f"ec:setting{i}", "?b")]
        head = ("env:deploy", "ec:violates", f"rule:{name}")
        yield _rule(name, body, [("?a", "log:notEqualTo", "?b")], head)


def _absence_rules() -> Iterator[Implication]:
    for i in range(9):
        name = f"ABS{i:03}"
        body = [
            ("?seen", "ec:installedIn", "env:train"),
            ("?seen", "ec:package", "?package"),
            ("?package", "ec:role", f"role:{ROLES[i % 6]}"),
            ("?package", "rdf:type", f"kind:{i % 7}"),
        ]
        absent = [("?other", "ec:package", "?package"), ("?other", "ec:installedIn", "env:deploy")]
        yield _rule(name, body, [], ("?package", "ec:violates", f"rule:{name}"), absent)


def _layer_rules() -> Iterator[Implication]:
    for i in range(23):
        name = f"LAY{i:03}"
        body = [
            ("?layer", "ec:activation", f"act:{ACTIVATIONS[i % 4]}"),
            ("?layer", "ec:next", "?next"),
            ("?next", "ec:activation", f"act:{ACTIVATIONS[i % 3]}"),
            ("?layer", "ec:units", "?units"),
            ("?next", "ec:dropout", "?dropout"),
        ]
        tests = [
            ("?units", "math:lessThan", str(2 + 6 * i)),
            ("?dropout", "math:greaterThan", "0.4"),
        ]
        yield _rule(name, body, tests, ("?layer", "ec:violates", f"rule:{name}"))


def _root_cause_rules() -> Iterator[Implication]:
    for i in range(4):
        name = f"ROO{i:03}"
        body = [
            ("?package", "ec:violates", f"rule:LIB{i:03}"),
            ("?package", "rdf:type", f"kind:{7 + i}"),
        ]
        waived = [("?package", "ec:violates", f"rule:ABS{i:03}")]
        yield _rule(name, body, [], ("?package", "ec:rootCause", "ec:library"), waived)


def _class_rule() -> Implication:
    """Return the rule of the Deep Taxonomy, in the order of patterns that suits EYE best."""
    body = [("?class", "ec:subClassOf", "?above"), ("?x", "rdf:type", "?class")]
    return Implication("CLS000", Body(body), [("?x", "rdf:type", "?above")])
