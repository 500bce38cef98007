"""Seals: what was accepted at release, so that a start only asks what is different now.

A seal is a JSON file: the facts of the deploy environment that was accepted, the digest of the
train fingerprint it was judged by, the options of the judgement and what it said, and, where it
was made inside the environment itself, a stamp of the installed distributions.

CPython 3.9, standard library.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, Any

from envcheck import __version__
from envcheck.errors import InputError, SchemaError
from envcheck.facts import OK, STATES, Fact, Facts
from envcheck.fingerprint.files import SIZE_LIMIT, read_bounded
from envcheck.records import field, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.findings import Finding, Report
    from envcheck.fingerprint.document import Fingerprint

__all__ = [
    "SCHEMA", "Difference", "Seal", "differences", "make_seal", "name_of", "read_seal",
    "text_digest",
]  # fmt: skip

SCHEMA = "envcheck.seal/1"
_MAKE_ONE = "make a seal with: envcheck compare TRAIN DEPLOY --seal FILE"
_NEVER_COMPARED = frozenset(("cpu.model",))
_CHANGED_BY_EMBEDDING = ("bytes", "sha256")


@record
class Seal:
    """What was accepted. `findings` holds the names of findings that were no obstacle then."""

    train_sha256: str
    facts: Facts
    findings: frozenset[str]
    outcome: dict[str, Any]
    stamp: str = ""
    judged: dict[str, Any] = field(default_factory=dict)
    """The options that the findings depended on, files by the digest of their content."""
    place: str = ""


@record
class Difference:
    """One fact that is not as it was accepted; None where a side does not have it."""

    key: str
    accepted: Fact | None
    here: Fact | None


def make_seal(
    train: Fingerprint,
    deploy: Fingerprint,
    report: Report,
    stamp: str,
    judged: Mapping[str, Any] | None = None,
) -> str:
    """Return the text of a seal for a pair that was accepted.

    `judged` is what `envcheck.startup.judged.digested` says of the options.
    """
    document = {
        "schema": SCHEMA,
        "envelope": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "tool": f"envcheck {__version__}",
        },
        "train_sha256": text_digest(train),
        "outcome": {
            "verdict": report.verdict,
            "errors": report.count("error"),
            "warnings": report.count("warning"),
            "rules_checked": report.rules_checked,
        },
        "findings": sorted({name_of(finding) for finding in report.findings}),
        "stamp": stamp,
        "judged": dict(judged or {}),
    }
    head = json.dumps(document, sort_keys=True, ensure_ascii=True, indent=1)[:-2]
    lines = ",\n".join(
        f"  {json.dumps(key)}: {json.dumps(fact.to_json(), sort_keys=True, ensure_ascii=True)}"
        for key, fact in sorted(deploy.facts.items())
    )
    return f'{head},\n "facts": {{\n{lines}\n }}\n}}\n'


def text_digest(fingerprint: Fingerprint) -> str:
    """Return the SHA-256 of the file that a fingerprint was read from, or would be written as."""
    text = fingerprint.text or fingerprint.to_text()
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def name_of(finding: Finding) -> str:
    """Return what a finding is known by: its rule, its subject, and the values on both sides."""
    values = json.dumps([finding.train, finding.deploy], sort_keys=True, default=str)
    return f"{finding.rule} {finding.subject} {values}"


def read_seal(path: str) -> Seal:
    """Return the seal in a file. Raises InputError and SchemaError."""
    try:
        data = read_bounded(path, SIZE_LIMIT)
    except InputError as problem:
        raise InputError(problem.problem, place=path, hint=_MAKE_ONE) from problem
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"is no seal: {type(problem).__name__}", place=path, hint=_MAKE_ONE
        ) from problem
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise SchemaError("is no seal of a schema known here", place=path, hint=_MAKE_ONE)
    lack = _problem(document)
    if lack:
        raise InputError(f"is no complete seal: {lack}", place=path, hint=_MAKE_ONE)
    return Seal(
        train_sha256=document["train_sha256"],
        facts={key: Fact.from_json(entry) for key, entry in document["facts"].items()},
        findings=frozenset(document["findings"]),
        outcome=document["outcome"],
        stamp=document["stamp"],
        judged=document.get("judged", {}),
        place=path,
    )


def _problem(document: dict[str, Any]) -> str:
    """Return what is wrong with the shape of a seal, or nothing."""
    for name, kind in (("facts", dict), ("outcome", dict), ("findings", list),
                       ("stamp", str), ("train_sha256", str)):  # fmt: skip
        if not isinstance(document.get(name), kind):
            return f"its {name} is missing or of a wrong kind"
    if not isinstance(document.get("judged", {}), dict):
        return "its judged is of a wrong kind"
    if not document["facts"]:
        return "it holds no facts"
    if not all(isinstance(item, str) for item in document["findings"]):
        return "its findings are no strings"
    for key, entry in document["facts"].items():
        if "." not in key or not _is_fact(entry):
            return f"{json.dumps(key)[:60]} is no fact"
    return ""


def _is_fact(entry: Any) -> bool:
    if not isinstance(entry, dict) or entry.get("state") not in STATES:
        return False
    texts = all(isinstance(entry.get(name, ""), str) for name in ("reason", "source"))
    return texts and (entry["state"] != OK or "value" in entry)


def differences(accepted: Facts, here: Facts) -> list[Difference]:
    """Return the facts that differ, sorted; why a fact is not known is no difference."""
    if accepted == here:
        return []
    out = []
    for key in sorted(accepted.keys() | here.keys()):
        pair = accepted.get(key), here.get(key)
        if key not in _NEVER_COMPARED and not _agree(*pair):
            out.append(Difference(key, *pair))
    return out


def _agree(accepted: Fact | None, here: Fact | None) -> bool:
    if accepted is None or here is None:
        return accepted is here
    if accepted.state != here.state:
        return False
    return accepted.value == here.value or _same_content(accepted.value, here.value)


def _same_content(accepted: Any, here: Any) -> bool:
    """Return whether two model facts differ only by what `envcheck embed` changes."""
    if not (isinstance(accepted, dict) and isinstance(here, dict)):
        return False
    if not accepted.get("content_sha256"):
        return False
    pair = [
        {name: value for name, value in side.items() if name not in _CHANGED_BY_EMBEDDING}
        for side in (accepted, here)
    ]
    return pair[0] == pair[1]
