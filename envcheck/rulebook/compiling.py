"""From rule files to the compiled form: plain JSON data that needs no parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envcheck.errors import MissingExtra, RuleError
from envcheck.reasoning.strata import groups
from envcheck.reasoning.terms import TYPE
from envcheck.rulebook.loading import SCHEMA
from envcheck.rulebook.problems import Problems
from envcheck.rulebook.sources import FILE_LIMIT, read_sources, source_hash
from envcheck.rulebook.templates import placeholders
from envcheck.rulebook.words import (
    CLASS,
    OUTCOMES,
    PREDICATE,
    STATE,
    VIOLATES,
    Words,
    is_built_in,
)

if TYPE_CHECKING:
    from envcheck.reasoning.implication import Implication
    from envcheck.reasoning.store import Triple
    from envcheck.rulebook.fields import Metadata
    from envcheck.rulebook.notation import Statement
    from envcheck.rulebook.problems import Report

__all__ = ["compile_folder", "compile_sources", "is_fresh"]


@dataclass
class _File:
    """One rule file on its way."""

    name: str
    report: Report
    statements: list[Statement]
    rules: dict[str, Metadata] = field(default_factory=dict)
    implications: list[Implication] = field(default_factory=list)
    guards: list[tuple[str, int]] = field(default_factory=list)
    facts: list[tuple[Triple, int]] = field(default_factory=list)
    predicates: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    whole: bool = True
    """Whether all of it could be read."""

    def note(self, line: int, message: str, hint: str = "") -> None:
        """Report what could not be read."""
        self.whole = False
        self.report(line, message, hint)


def compile_folder(folder: Path, words: Words, *, built_in: bool = False) -> dict[str, Any]:
    """Lint and compile all `.n3` files below a folder.

    Raises one RuleError that lists every mistake. `built_in` asks for ids such as ENV031.
    """
    return compile_sources(read_sources(folder), words, built_in=built_in)


def is_fresh(folder: Path, compiled: dict[str, Any]) -> bool:
    """Tell whether compiled data stem from the files as they are now."""
    return compiled.get("sha256") == source_hash(read_sources(folder))


def compile_sources(
    sources: dict[str, bytes], words: Words, *, built_in: bool = False
) -> dict[str, Any]:
    """Lint and compile rule files given by name and content."""
    problems = Problems()
    files = [_parse(name, content, problems) for name, content in sources.items()]
    words = words.extended(
        [p for file in files for p in file.predicates], [c for file in files for c in file.classes]
    )
    for file in files:
        _read_rules(file, words, built_in=built_in)
    _check_unique(files)
    _check_guards(files)
    for file in files:
        _check_placeholders(file)
    implications = [i for file in files for i in file.implications]
    _check_cycles(implications, problems)
    problems.raise_if_any()
    return _to_data(files, sources)


def _parse(name: str, content: bytes, problems: Problems) -> _File:
    report = problems.in_file(name)
    file = _File(name, report, [])
    if len(content) > FILE_LIMIT:
        report(0, f"larger than {FILE_LIMIT >> 20} MiB", "split the file by topic")
        return file
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        report(1 + content.count(b"\n", 0, error.start), "not UTF-8")
        return file
    try:
        from envcheck.rulebook.notation import parse
    except ImportError as error:
        raise MissingExtra("rdflib", "graph", "reading rule files") from error
    file.statements = parse(text.replace("\r\n", "\n"), file.note)
    if not file.statements and file.whole:
        report(0, "no rule and no fact in this file")
    for statement in file.statements:
        if statement.predicate == TYPE and statement.object in (PREDICATE, CLASS):
            declared = file.predicates if statement.object == PREDICATE else file.classes
            declared.append(str(statement.subject))
    return file


def _read_rules(file: _File, words: Words, *, built_in: bool) -> None:
    from envcheck.rulebook.fields import read_metadata
    from envcheck.rulebook.implications import read_implication

    about_rules, implies, plain = _sorted_out(file.statements)
    file.rules = read_metadata(about_rules, file.report, built_in=built_in)
    for statement in implies:
        implication = read_implication(statement, file.name, words, file.report)
        guard = _guard_of(statement)
        if guard:
            file.guards.append(guard)
        if implication is not None:
            file.implications.append(implication)
    for statement in plain:
        _read_fact(file, statement, words)


def _sorted_out(
    statements: list[Statement],
) -> tuple[list[Statement], list[Statement], list[Statement]]:
    about_rules, implies, plain = [], [], []
    for statement in statements:
        if statement.predicate == "log:implies":
            implies.append(statement)
        elif isinstance(statement.subject, str) and statement.subject.startswith("rule:"):
            about_rules.append(statement)
        elif statement.predicate != TYPE or statement.object not in (PREDICATE, CLASS):
            plain.append(statement)
    return about_rules, implies, plain


def _guard_of(statement: Statement) -> tuple[str, int] | None:
    triples = getattr(statement.subject, "statements", ())
    for triple in triples:
        if triple.predicate == STATE and str(triple.subject).startswith("rule:"):
            return triple.subject.removeprefix("rule:"), triple.line
    return None


def _read_fact(file: _File, statement: Statement, words: Words) -> None:
    from envcheck.rulebook.triples import triple_of

    predicate, line = statement.predicate, statement.line
    if isinstance(predicate, str) and is_built_in(predicate):
        file.report(line, f"built-in {predicate!r} outside a body")
        return
    triple = triple_of(statement, "a fact", words, file.report)
    if triple is None:
        return
    if any(term[0] == "?" for term in triple):
        file.report(line, "variable in a fact", "facts are about constants")
    elif predicate in words.reserved or predicate in OUTCOMES:
        file.report(line, f"a table may not assert {predicate}", "tables hold your own predicates")
    else:
        file.facts.append((triple, line))


def _check_unique(files: list[_File]) -> None:
    first: dict[str, str] = {}
    for file in files:
        for rule, metadata in file.rules.items():
            if rule in first:
                file.report(metadata.line, f"rule {rule} is defined in {first[rule]} too")
            first.setdefault(rule, file.name)


def _check_guards(files: list[_File]) -> None:
    home = {rule: file.name for file in files for rule in file.rules}
    for file in files:
        for rule, line in file.guards:
            if rule not in file.rules:
                hint = f"it is defined in {home[rule]}" if rule in home else "define it here"
                file.report(line, f"the guard names {rule}, which this file does not define", hint)
        guarded = {rule for rule, _ in file.guards}
        for rule, metadata in file.rules.items():
            if rule not in guarded and file.whole:
                hint = "an implication names its rule in its first triple"
                file.report(metadata.line, f"rule {rule} has no implication", hint)


def _check_placeholders(file: _File) -> None:
    from envcheck.rulebook.fields import TEMPLATES

    for implication in file.implications:
        metadata = file.rules.get(implication.rule)
        if metadata is None or all(p != VIOLATES for _, p, _ in implication.heads):
            continue
        bound = {name[1:] for name in implication.variable_order}
        for template in TEMPLATES:
            for name in placeholders(metadata.values.get(template, "")):
                if name not in bound:
                    file.report(
                        metadata.lines[template],
                        f"{{{name}}} in ec:{template} of {metadata.id} is not bound by the "
                        f"implication at {implication.place}",
                        f"it binds {', '.join(sorted(bound)) or 'nothing'}",
                    )


def _check_cycles(implications: list[Implication], problems: Problems) -> None:
    try:
        groups(implications)
    except RuleError as error:
        file, _, line = error.place.rpartition(":")
        problems.add(file, int(line), error.problem, error.hint)


def _to_data(files: list[_File], sources: dict[str, bytes]) -> dict[str, Any]:
    rules = {
        rule: {"place": f"{file.name}:{metadata.line}", **metadata.values}
        for file in files
        for rule, metadata in file.rules.items()
    }
    implications = sorted((i for f in files for i in f.implications), key=lambda i: i.key)
    facts = [(*triple, f"{file.name}:{line}") for file in files for triple, line in file.facts]
    return {
        "schema": SCHEMA,
        "sha256": source_hash(sources),
        "rules": dict(sorted(rules.items())),
        "implications": [implication.to_data() for implication in implications],
        "facts": [list(fact) for fact in sorted(facts)],
        "predicates": sorted({p for file in files for p in file.predicates}),
        "classes": sorted({c for file in files for c in file.classes}),
    }
