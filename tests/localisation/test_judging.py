"""How findings about training are made: gate, causes, alternatives, places, limits.

The rules here are made up, so that each test shows one thing.
"""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

import pytest

from envcheck.localisation.graph import Place, TrainingGraph
from envcheck.localisation.judging import Judgement, judge
from envcheck.localisation.signals import Signals
from envcheck.localisation.training_log import TrainingLog
from envcheck.policy.model import Policy, Waiver
from envcheck.rulebook.compiling import compile_sources
from envcheck.rulebook.index import IndexEntry
from envcheck.rulebook.loading import Rulebook
from envcheck.rulebook.words import Words

_HEAD = """@prefix ec: <urn:envcheck:ec:> .
@prefix rule: <urn:envcheck:rule:> .
@prefix log: <http://www.w3.org/2000/10/swap/log#> .
"""
_RULE = """rule:{id} a ec:Rule ; ec:name "{name}" ; ec:fault "{name}" ; ec:since "0.1" ;
  ec:status "stable" ; ec:severity ec:{severity} ; ec:basis ec:inferred ; ec:confidence 0.9 ;
  ec:strength ec:{strength} ; ec:argument "{argument}" ; ec:title "{{what}} is odd" ;
  ec:detail "It is." ; ec:fix "Change {{what}}." .
{{ rule:{id} ec:state ec:enabled . ?s ec:{word} ?what . }} => {{ ?s ec:violates rule:{id} }} .
{{ rule:{id} ec:state ec:enabled . ?s ec:openQuestion ?why . }}
  => {{ ?s ec:undetermined rule:{id} }} .
"""
_LOG: dict[str, Any] = {
    "schema": "envcheck.training/1",
    "recorded": True,
    "program": {},
    "models": [
        {
            "id": "m0",
            "name": "net",
            "site": {"file": "train.py", "line": 3, "column": 1},
            "layers": [
                {
                    "path": "dense",
                    "site": {"file": "train.py", "line": 7, "column": 5},
                    "chain": [{"file": "train.py", "line": 40, "column": 1}],
                    "arguments": {"activation": {"file": "train.py", "line": 8, "column": 9}},
                }
            ],
        }
    ],
    "fits": [
        {
            "id": "f0",
            "model": "m0",
            "site": {"file": "train.py", "line": 20, "column": 1},
            "compile_site": {"file": "train.py", "line": 15, "column": 1},
            "arguments": {"loss": {"file": "train.py", "line": 16, "column": 10}},
        }
    ],
}
_WORDS = Words(
    predicates=frozenset(f"ec:{name}" for name in (
        "flaw", "flaw2", "openQuestion", "explains", "absorbs", "sameFixAs",
    ))
)  # fmt: skip


def _book(*rules: dict[str, str], tables: str = "") -> tuple[Rulebook, dict[str, IndexEntry]]:
    text, index = _HEAD, {}
    for rule in rules:
        filled = {
            "severity": "error", "strength": "proof", "argument": "activation", "word": "flaw",
            "name": rule["id"].lower(), "component": "model", "count": "0", **rule,
        }  # fmt: skip
        text += _RULE.format_map(filled)
        index[rule["id"]] = IndexEntry(
            {"fault": filled["name"], "category": "activation", "component": filled["component"],
             "severity": filled["severity"], "count": int(filled["count"])}
        )  # fmt: skip
    compiled = compile_sources({"rules.n3": (text + tables).encode()}, _WORDS, built_in=True)
    return Rulebook.from_data(compiled), index


def _derived(rule: str, word: str, other: str) -> str:
    head = f"rule:{rule} ec:{word} rule:{other} ."
    return f"{{ rule:{rule} ec:state ec:enabled . }} => {{ {head} }} .\n"


def _signals(performance: str) -> dict[str, Signals]:
    level = {"good": 0.01, "poor": 0.8}[performance]
    return {
        "f0": Signals(
            train_level=level, validation_level=None, accuracy=None, curve="falling",
            oscillation=None, tail_drop=None, still_falling=None,
            validation_minimum_at=None, validation_rise=None,
        )
    }  # fmt: skip


def _judged(
    facts: list[tuple[str, str, str]],
    book: tuple[Rulebook, dict[str, IndexEntry]],
    performance: str = "poor",
    policy: Policy | None = None,
) -> Judgement:
    graph = TrainingGraph(TrainingLog(_LOG))
    for subject, word, value in facts:
        graph.put_value(subject, word, value, "fits/0/model")
    return judge(graph, *book, _signals(performance), policy=policy or Policy())


def _rules(judgement: Judgement) -> list[str]:
    return [finding.rule for finding in judgement.findings]


def test_the_line_is_that_of_the_written_argument() -> None:
    """A layer's activation: its own line first, then the call, then the caller."""
    found = _judged([("layer:m0/dense", "flaw", "tanh")], _book({"id": "MOD901"})).findings[0]
    place = found.location
    assert (place.file, place.line, place.column, place.layer) == ("train.py", 8, 9, "dense")
    assert [other.line for other in found.related] == [7, 40]
    assert found.title == "tanh is odd"
    assert found.subject == "layer dense"
    assert found.evidence[0].value == "m0"


@pytest.mark.parametrize(("argument", "line"), [("loss", 16), ("optimizer", 15), ("epochs", 20)])
def test_arguments_that_are_not_written(argument: str, line: int) -> None:
    """What compile takes falls back to compile's line, the rest to that of fit."""
    book = _book({"id": "TRN901", "argument": argument})
    assert _judged([("fit:f0", "flaw", "it")], book).findings[0].location.line == line


def test_the_gate_closes_on_suspicions() -> None:
    """A fit that performs well is not accused by a heuristic; a proof still stands."""
    book = _book({"id": "MOD901", "strength": "heuristic"}, {"id": "MOD902", "word": "flaw2"})
    facts = [("layer:m0/dense", "flaw", "a"), ("layer:m0/dense", "flaw2", "b")]
    assert _rules(_judged(facts, book, "good")) == ["MOD902"]
    assert sorted(_rules(_judged(facts, book, "poor"))) == ["MOD901", "MOD902"]


def test_a_prior_orders_equals() -> None:
    """Of two proofs the more frequent fault comes first; a suspicion comes after both."""
    book = _book(
        {"id": "MOD901", "count": "3"},
        {"id": "MOD902", "count": "30"},
        {"id": "MOD903", "count": "60", "strength": "heuristic"},
    )
    assert _rules(_judged([("layer:m0/dense", "flaw", "a")], book))[0] == "MOD902"


def test_a_cause_comes_before_what_it_explains() -> None:
    """An effect names its cause and ranks below it, whatever the priors say."""
    tables = _derived("TRN901", "absorbs", "MOD901")
    book = _book({"id": "MOD901", "count": "300"}, {"id": "TRN901", "word": "flaw2"}, tables=tables)
    facts = [("layer:m0/dense", "flaw", "a"), ("fit:f0", "flaw2", "b")]
    findings = _judged(facts, book).findings
    assert [item.rule for item in findings] == ["TRN901", "MOD901"]
    assert findings[1].explained_by == "TRN901 training"


def test_equivalent_fixes_are_one_finding() -> None:
    """The better one stands, the other is its alternative."""
    tables = _derived("TRN901", "sameFixAs", "TRN902")
    book = _book({"id": "TRN901", "count": "9"}, {"id": "TRN902"}, tables=tables)
    findings = _judged([("fit:f0", "flaw", "a")], book).findings
    assert [item.rule for item in findings] == ["TRN901"]
    assert findings[0].alternatives == ("TRN902 a is odd: Change a.",)


def test_three_per_component() -> None:
    """The fourth finding about the model is left out, and a note says so; data are another part."""
    rules = [{"id": f"MOD90{n}", "count": str(9 - n)} for n in range(4)]
    book = _book(*rules, {"id": "DAT901", "component": "data"})
    judgement = _judged([("layer:m0/dense", "flaw", "a")], book)
    assert sorted(_rules(judgement)) == ["DAT901", "MOD900", "MOD901", "MOD902"]
    assert "MOD903" in judgement.notes[0]


def test_unknown_says_why() -> None:
    """The open question is the reason, and the rule counts as unknown."""
    judgement = _judged([("fit:f0", "openQuestion", "the loss is custom")], _book({"id": "TRN901"}))
    assert [outcome.reason for outcome in judgement.undetermined] == ["the loss is custom"]
    assert judgement.rules["unknown"] == 1


def test_the_policy_waives_disables_and_resets() -> None:
    """A waiver silences, until it expires; a rule can be disabled or made a warning."""
    book, facts = _book({"id": "MOD901"}), [("layer:m0/dense", "flaw", "a")]
    waiver = Waiver(rule="MOD901", reason="known", expires=date(2030, 1, 1), fact="layer *")
    day = date(2029, 1, 1)
    assert _judged(facts, book, policy=Policy(waivers=(waiver,), today=day)).findings[0].waived
    late = Policy(waivers=(waiver,), today=date(2031, 1, 1))
    assert not _judged(facts, book, policy=late).findings[0].waived
    assert _judged(facts, book, policy=Policy(disable=frozenset({"MOD901"}))).findings == ()
    reset = _judged(facts, book, policy=Policy(severity={"MOD901": "warning"})).findings[0]
    assert reset.severity == "warning"


def test_numbers_that_json_does_not_have() -> None:
    """Evidence and series of a broken run still make strict JSON."""
    log = {**_LOG, "program": {"losses": [1.0, math.nan], "worst": -math.inf}}
    graph = TrainingGraph(TrainingLog(log))
    graph.put_value("fit:f0", "flaw", "it", "program/losses", "program/worst")
    points = [[0, 1.0], [1, math.inf]]
    graph.stand("fit:f0", Place(fit="f0", series=({"label": "loss", "points": points},)))
    book = _book({"id": "TRN901"})
    found = judge(graph, *book, _signals("poor"), policy=Policy()).findings[0]
    assert [item.value for item in found.evidence] == [[1.0, "NaN"], "-infinity"]
    assert found.series == ({"label": "loss", "points": [[0, 1.0]]},)
    json.dumps(found.to_json(), allow_nan=False)
