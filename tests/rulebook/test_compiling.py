"""Compiled rules: complete, stable, fresh, cached, merged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from envcheck.errors import RuleError
from envcheck.reasoning import FactBase, Inference, infer
from envcheck.reasoning.eye import Eye
from envcheck.reasoning.n3 import facts_to_n3
from envcheck.rulebook import Rulebook, load_compiled
from envcheck.rulebook import sources as source_files
from envcheck.rulebook.compiling import compile_folder, compile_sources, is_fresh
from envcheck.rulebook.folders import load_folder, write_compiled
from envcheck.rulebook.templates import fill
from envcheck.rulebook.words import Words
from tests.reasoning.conftest import eye, eyes  # noqa: F401
from tests.rulebook.rulefile import GOOD, WORDS, compile_text

NUMPY = (
    ("pkg:numpy", "ec:trained", '"2.1.0'),
    ("pkg:numpy", "ec:deployed", '"1.26.4'),
    ("pkg:numpy", "ec:differsAt", "1"),
    ("pkg:numpy", "ec:role", "ec:runtime"),
)


def _run(compiled: dict[str, object], *more: tuple[str, str, str]) -> Inference:
    rulebook = Rulebook.from_data(compiled)
    base = FactBase()
    rulebook.assert_into(base)
    for triple in (*NUMPY, *more):
        base.add(*triple, source="package.numpy")
    return infer(base, rulebook.implications)


def test_from_text_to_finding() -> None:
    """A file compiles to a rule that fires, with its message filled from the bindings."""
    compiled = compile_text(GOOD)
    found = ("pkg:numpy", "ec:violates", "rule:ENV031")

    inference = _run(compiled)

    (derivation,) = inference.derivations_of(found)
    rule = Rulebook.from_data(compiled).rule(derivation.rule)
    assert inference.facts == (found,)
    assert fill(rule.title, derivation.bindings) == "numpy 1.26.4 reads what 2.1.0 wrote"
    assert fill(rule.command, derivation.bindings) == "pip install 'numpy==2.1.0'"
    assert (rule.severity, rule.basis, rule.confidence) == ("error", "declared", 0.98)
    assert rule.guards == ("a pickle: yes", "versions differ: yes")
    assert rule.place == "test.n3:10"
    assert derivation.implication.place == "test.n3:24"


def test_table_is_a_source() -> None:
    """A fact from a table names the line it stands on."""
    inference = _run(compile_text(GOOD))

    leaves = inference.explain(("pkg:numpy", "ec:violates", "rule:ENV031")).leaves()

    assert ("test.n3:31",) in {leaf.sources for leaf in leaves}


def test_silent_if_waived() -> None:
    """The negated pattern keeps the rule quiet."""
    assert _run(compile_text(GOOD), ("pkg:numpy", "ec:waived", '"known')).facts == ()


def test_disabled_rule_is_silent() -> None:
    """Without the fact of its guard a rule does nothing."""
    rulebook = Rulebook.from_data(compile_text(GOOD))
    base = FactBase(NUMPY)
    rulebook.assert_into(base, disabled=["ENV031"])

    assert infer(base, rulebook.implications).facts == ()


def test_eye_reads_the_same_file(eyes: list[Eye]) -> None:  # noqa: F811
    """EYE infers the same from the rule file itself and the facts."""
    rulebook = Rulebook.from_data(compile_text(GOOD))
    base = FactBase(NUMPY)
    rulebook.assert_into(base)
    # EYE before 2023 takes a negated predicate that occurs nowhere for an error.
    base.add("pkg:other", "ec:waived", '"x')

    for engine in eyes:
        found = engine.run({"rules": GOOD, "facts": facts_to_n3(base)})
        assert found == infer(base, rulebook.implications).facts


def test_compiled_form_is_stable(tmp_path: Path) -> None:
    """Writing, loading and compiling again changes nothing, whatever the line ends."""
    folder = tmp_path / "rules"
    (folder / "library").mkdir(parents=True)
    (folder / "library" / "abi.n3").write_bytes(GOOD.replace("\n", "\r\n").encode())
    compiled = compile_folder(folder, WORDS, built_in=True)
    file = tmp_path / "compiled.json"

    write_compiled(file, compiled)

    assert json.loads(file.read_text()) == compiled
    assert compiled == compile_sources({"library/abi.n3": GOOD.encode()}, WORDS)
    assert load_compiled(file).ids == ("ENV031",)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compiled.json", "rules"]
    lines = file.read_text().splitlines()
    assert sum("ENV031" in line for line in lines) == 2


def test_fresh(tmp_path: Path) -> None:
    """Any change of a file, its name or the set of files makes compiled rules stale."""
    (tmp_path / "a.n3").write_text(GOOD)
    compiled = compile_folder(tmp_path, WORDS)
    assert is_fresh(tmp_path, compiled)

    (tmp_path / "a.n3").rename(tmp_path / "b.n3")
    assert not is_fresh(tmp_path, compiled)
    (tmp_path / "b.n3").rename(tmp_path / "a.n3")
    assert is_fresh(tmp_path, compiled)
    (tmp_path / "a.n3").write_text(GOOD + "# more\n")
    assert not is_fresh(tmp_path, compiled)


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is compiled once; the cache holds by content and vocabulary, and heals."""
    folder, cache = tmp_path / "rules", tmp_path / "cache"
    folder.mkdir()
    (folder / "a.n3").write_text(GOOD)

    assert load_folder(folder, WORDS, cache).ids == ("ENV031",)
    (kept,) = cache.iterdir()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "rdflib", None)
        patch.delitem(sys.modules, "envcheck.rulebook.compiling")
        patch.setitem(sys.modules, "envcheck.rulebook.compiling", None)
        assert load_folder(folder, WORDS, cache).ids == ("ENV031",)
    kept.write_text("{")
    assert load_folder(folder, WORDS, cache).ids == ("ENV031",)
    assert json.loads(kept.read_text())["schema"]
    more = Words(predicates=WORDS.predicates | {"ec:more"}, reserved=WORDS.reserved)
    load_folder(folder, more, cache)
    assert len(list(cache.iterdir())) == 2


def test_no_cache_writes_nothing(tmp_path: Path) -> None:
    """Without a cache folder nothing is left behind."""
    (tmp_path / "a.n3").write_text(GOOD)

    load_folder(tmp_path, WORDS)

    assert [path.name for path in tmp_path.iterdir()] == ["a.n3"]


SCHEMA = "envcheck.rulebook"


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", f'{{"schema": "{SCHEMA}/9"}}', f'{{"schema": "{SCHEMA}/1"}}'],
)
def test_not_compiled_rules(tmp_path: Path, content: str) -> None:
    """A damaged or foreign file is a RuleError with its place."""
    file = tmp_path / "compiled.json"
    file.write_text(content)

    with pytest.raises(RuleError, match="compiled rules"):
        load_compiled(file)


def test_missing_compiled_rules(tmp_path: Path) -> None:
    """So is a missing one."""
    with pytest.raises(RuleError, match="cannot be read"):
        load_compiled(tmp_path / "missing.json")


def _merged(user_text: str) -> Rulebook:
    built_in = Rulebook.from_data(compile_text(GOOD))
    words = Words(predicates=WORDS.predicates | built_in.predicates, reserved=WORDS.reserved)
    user = Rulebook.from_data(
        compile_sources({"user.n3": user_text.encode()}, words, built_in=False)
    )
    return built_in.merged(user)


def test_user_rules_are_added() -> None:
    """Rules and tables of a user folder join the built-in ones."""
    user = GOOD.replace("ENV031", "ACME1").replace("ec:runtime ec:breaksAt 2", "ec:x ec:breaksAt 1")

    rulebook = _merged(user)

    assert rulebook.ids == ("ACME1", "ENV031")
    assert {place for _, place in rulebook.facts} == {"test.n3:31", "user.n3:31"}


def test_same_id_needs_overrides() -> None:
    """A user rule replaces a built-in one only if it says so."""
    with pytest.raises(RuleError, match=r"user\.n3:10: rule ENV031 exists\nhint: .*ec:overrides"):
        _merged(GOOD)

    rulebook = _merged(
        GOOD.replace("ec:severity ec:error", "ec:overrides rule:ENV031 ; ec:severity ec:info")
    )

    assert rulebook.rule("ENV031").severity == "info"
    assert [i.place for i in rulebook.implications] == ["user.n3:24"]


def test_hash_depends_on_names_and_borders() -> None:
    """Moving text from one file to the next is a change."""
    one = source_files.source_hash({"a.n3": b"xy", "b.n3": b"z"})
    two = source_files.source_hash({"a.n3": b"x", "b.n3": b"yz"})

    assert one != two
    assert one == source_files.source_hash({"b.n3": b"z", "a.n3": b"xy"})


_LEAN = """
import sys
from envcheck.reasoning import FactBase, infer
from envcheck.rulebook import load_compiled
rulebook = load_compiled(sys.argv[1])
base = FactBase()
rulebook.assert_into(base)
infer(base, rulebook.implications)
print(*sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[2:])))
"""


def test_loading_needs_the_standard_library_alone(tmp_path: Path, root: Path) -> None:
    """Neither rdflib nor pyoxigraph nor any slow module is imported to run compiled rules."""
    file = tmp_path / "compiled.json"
    write_compiled(file, compile_text(GOOD))
    heavy = ["rdflib", "pyoxigraph", "pyparsing", "inspect", "difflib", "hashlib", "pathlib"]

    done = subprocess.run(
        [sys.executable, "-S", "-c", _LEAN, str(file), *heavy],
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == ""
