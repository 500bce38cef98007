"""`envcheck.compare()`: load two sides, judge them, and say what is odd about the pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.errors import NothingChecked, UsageError
from envcheck.fingerprint.document import SCHEMA
from envcheck.loading import STDIN, load_side
from envcheck.records import replace

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from envcheck.comparing.rulesets import Rules
    from envcheck.findings import Report
    from envcheck.fingerprint.document import Fingerprint
    from envcheck.loading import Side
    from envcheck.policy import Policy

__all__ = ["compare"]


def compare(
    train: Side,
    deploy: Side,
    *,
    strict: bool = False,
    rules: Iterable[str | os.PathLike[str]] | Rules = (),
    engine: str = "builtin",
    policy: Policy | None = None,
) -> Report:
    """Return the report on a deploy environment judged by the train environment.

    Each side is a path (a fingerprint, a requirements or lock file), `-` for standard input,
    `live` for this interpreter, or a `Fingerprint`. Under `strict`, an error-level rule that
    cannot be decided makes the verdict `undetermined`. `rules` names folders with further rule
    files (.n3); the engine `eye` has an installed EYE confirm what the built-in one derives.
    `policy` says what may differ, what is required and what has been accepted; see
    `envcheck.configuration.load_configuration`.

    Raises InputError, SchemaError, UsageError, RuleError, and NothingChecked for a side
    without facts.
    """
    if train == STDIN and deploy == STDIN:
        raise UsageError(
            "both sides are standard input, which can be read once",
            hint="save one first: envcheck capture -o train.json",
        )
    first, second = load_side(train), load_side(deploy)
    for fingerprint in (first, second):
        if not fingerprint.facts:
            raise NothingChecked(
                "holds no facts, so nothing can be checked",
                place=fingerprint.place,
                hint="capture it again: envcheck capture -o train.json",
            )
    from envcheck.comparing.compare import compare_fingerprints
    from envcheck.comparing.rulesets import Rules, load_rules

    known = rules if isinstance(rules, Rules) else load_rules(rules)
    report = compare_fingerprints(
        first, second, strict=strict, rules=known, engine=engine, policy=policy
    )
    return replace(report, notes=(*_oddities(first, second), *report.notes))


def _oddities(train: Fingerprint, deploy: Fingerprint) -> list[str]:
    """Return sentences about a pair that may not be what was meant."""
    notes = []
    if train.role == "deploy" and deploy.role == "train":
        notes.append(
            "the two sides look swapped: the first was captured with --role deploy and the second"
            " with --role train; the train side comes first"
        )
    elif train.role == "deploy":
        notes.append("the first side was captured with --role deploy and is taken as train")
    elif deploy.role == "train" and train.place != deploy.place:
        notes.append("the second side was captured with --role train and is taken as deploy")
    notes += _version_notes(train, deploy)
    return notes


def _version_notes(train: Fingerprint, deploy: Fingerprint) -> list[str]:
    notes = [
        f"{side.place} has schema {side.schema}, newer than {SCHEMA}, which this envcheck knows;"
        " facts that are new in it were not checked"
        for side in (train, deploy)
        if side.schema != SCHEMA
    ]
    tools = [str(side.envelope.get("tool") or "") for side in (train, deploy)]
    if all(tools) and tools[0] != tools[1]:
        notes.append(
            f"the fingerprints were made by different versions ({tools[0]} and {tools[1]}); a"
            " fact that only one of them records is not known on the other side"
        )
    return notes
