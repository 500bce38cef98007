"""The shipped rules: compiled form, index and vocabulary agree with the files."""

from __future__ import annotations

import json
import re
from pathlib import Path

from envcheck.comparing.compare import builtin_index, builtin_rules
from envcheck.comparing.vocabulary import ASSERTED, DERIVED, RULE_TABLES
from envcheck.findings import CATEGORIES, COMPONENTS
from envcheck.localisation.rulesets import training_rules
from envcheck.rulebook.index import check_index
from envcheck.rulebook.sources import is_about_training
from tools.compile_rules import TARGETS, compiled_text
from tools.rule_pages import stale

ROOT = Path(__file__).resolve().parents[2]
_CALL = re.compile(r"\.put(?:_value)?\(\s*[^,]+,\s*\"(\w+)\"")
_READ_BY_THE_JUDGE = {"preExisting"}  # lowers whatever rule fires on the subject
_SIDE_VALUES = {"trainValue", "deployValue"}  # their name is put together from the side


def test_compiled_rules_are_fresh() -> None:
    """The committed compiled files are what the rule files compile to."""
    for target in TARGETS:
        assert target.read_text(encoding="utf-8") == compiled_text(target)


def test_index_lists_every_rule_once_with_its_fault() -> None:
    """Every rule stands in the index with the same fault and severity, and no id is left over."""
    assert check_index(builtin_index(), builtin_rules()) == []
    assert check_index(builtin_index(), training_rules()) == []
    compiled = {rule for rule in builtin_index() if not rule.startswith("CNV")}
    assert compiled == {*builtin_rules().ids, *training_rules().ids}


def test_index_uses_the_closed_lists() -> None:
    """Categories and components are those of the report schema."""
    entries = json.loads((ROOT / "rules" / "index.json").read_text(encoding="utf-8"))
    for entry in entries.values():
        assert entry["category"] in CATEGORIES
        assert entry["component"] in COMPONENTS


def _used_in_rules() -> set[str]:
    """Return every `ec:` word that an implication reads, or a table or head names."""
    used: set[str] = set()
    for path in (ROOT / "rules").rglob("*.n3"):
        if is_about_training(path.relative_to(ROOT / "rules").as_posix()):
            continue
        text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', path.read_text(encoding="utf-8"))
        used.update(re.findall(r"\bec:([A-Za-z]+)", text))
    return used


def test_every_asserted_predicate_is_read_by_a_rule() -> None:
    """A fact that no rule reads would be dead weight in every comparison."""
    assert sorted(ASSERTED.keys() - _used_in_rules() - _READ_BY_THE_JUDGE) == []


def test_every_predicate_is_asserted_somewhere() -> None:
    """A predicate that nothing asserts would make a rule that can never fire."""
    source = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("comparing", "policy")
        for path in (ROOT / "envcheck" / folder).glob("*.py")
    )
    asserted = set(_CALL.findall(source)) | _SIDE_VALUES
    judged_by = re.findall(r'^    "(\w+)": (?:\(|_LIBC)', source, re.MULTILINE)

    assert sorted(ASSERTED.keys() - asserted - set(judged_by)) == []


def test_derived_words_and_table_words_are_used() -> None:
    """No word of the vocabulary is left over."""
    assert sorted((DERIVED.keys() | RULE_TABLES.keys()) - _used_in_rules()) == []


def test_rule_pages_are_fresh() -> None:
    """The pages under docs/rules are what the rules say about themselves."""
    assert stale() == []
