"""The published schemas accept what we write and refuse what we refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings

import envcheck
from envcheck.catalogue import KEYS
from envcheck.errors import InputError
from envcheck.fingerprint.reading import parse_fingerprint
from envcheck.schemas import NAMES, schema
from tests.cli.running import envcheck as command
from tests.reporting.sample import report
from tests.strategies import fingerprints

if TYPE_CHECKING:
    from envcheck.fingerprint import Fingerprint

ROOT = Path(__file__).resolve().parent.parent
FINGERPRINT = jsonschema.Draft202012Validator(schema("fingerprint"))
REPORT = jsonschema.Draft202012Validator(schema("report"))


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name: str) -> None:
    """Each schema is a valid one of its draft, and the command prints the same."""
    made = schema(name)

    jsonschema.Draft202012Validator.check_schema(made)
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(command("schema", name).stdout) == made


def test_recorded_training_logs_are_valid() -> None:
    """The logs of real programs that the rules are tried on."""
    training = jsonschema.Draft202012Validator(schema("training"))
    logs = sorted((ROOT / "rules" / "training" / "cases" / "base").glob("*.log.json"))

    assert len(logs) > 10
    for path in logs:
        training.validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("member", "value"),
    [("fits", {}), ("models", [{"id": 3, "layers": []}]), ("recorded", "yes"), ("program", [])],
)
def test_broken_training_logs_are_not(member: str, value: Any) -> None:
    """A member of another kind is refused."""
    training = jsonschema.Draft202012Validator(schema("training"))
    log = {"schema": "envcheck.training/1", "recorded": True, "program": {}, "models": [],
           "fits": []}  # fmt: skip

    assert training.is_valid(log)
    assert not training.is_valid({**log, member: value})


@settings(max_examples=200, deadline=None)
@given(fingerprints())
def test_every_fingerprint_is_valid(fingerprint: Fingerprint) -> None:
    """Whatever we can write, the schema accepts."""
    FINGERPRINT.validate(fingerprint.to_json())


def test_a_capture_is_valid() -> None:
    """A capture of this machine is valid, and every key in it is declared."""
    here = envcheck.capture(role="train")

    FINGERPRINT.validate(here.to_json())
    families = tuple(key[:-1] for key in KEYS if key.endswith("*"))
    assert [key for key in here.facts if key not in KEYS and not key.startswith(families)] == []


def with_fact(key: str, fact: Any) -> dict[str, Any]:
    """Return a document with one fact."""
    return {"schema": "envcheck.fingerprint/1", "envelope": {}, "facts": {key: fact}}


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"schema": "envcheck.fingerprint/1"},
        {"schema": "envcheck.fingerprint/2", "facts": {}},
        {"schema": "envcheck.report/1", "facts": {}},
        {"schema": "envcheck.fingerprint/1", "facts": []},
        {"schema": "envcheck.fingerprint/1", "facts": {}, "envelope": {"role": "both"}},
        {"schema": "envcheck.fingerprint/1", "facts": {}, "envelope": {"created": 1}},
        with_fact("nogroup", {"state": "unknown"}),
        with_fact("os.\x1bsystem", {"state": "unknown"}),
        with_fact("os.system", {}),
        with_fact("os.system", {"state": "good"}),
        with_fact("os.system", {"state": "ok"}),
        with_fact("acme.x", {"state": "ok"}),
        with_fact("acme.x", {"state": "unknown", "reason": 5}),
        with_fact("os.system", {"state": "ok", "value": 5}),
        with_fact("cpu.pointer_bits", {"state": "ok", "value": True}),
        with_fact("cpu.features", {"state": "ok", "value": ["a", 1]}),
        with_fact("package.numpy", {"state": "ok", "value": {"requires": "x"}}),
        with_fact("gpu.devices", {"state": "ok", "value": [{"mig": 1}]}),
        with_fact("env.OMP_NUM_THREADS", {"state": "ok", "value": 4}),
    ],
)
def test_schema_and_reader_refuse_the_same(document: Any) -> None:
    """What the schema refuses, the reader refuses too."""
    assert not FINGERPRINT.is_valid(document)
    with pytest.raises(InputError):
        parse_fingerprint(json.dumps(document).encode(), "x.json")


def test_further_members_are_allowed() -> None:
    """Schema and reader let unknown members and keys through."""
    document = with_fact("acme.x", {"state": "ok", "value": [1], "note": 1}) | {"more": 1}

    FINGERPRINT.validate(document)
    parse_fingerprint(json.dumps(document).encode(), "x.json")


def test_reports_are_valid() -> None:
    """Reports as they are written are valid, full and empty ones."""
    for made in (report(), envcheck.Report()):
        REPORT.validate(made.to_json())
    REPORT.validate(envcheck.compare("live", "live").to_json())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["verdict"], "fine"),
        (["schema"], "envcheck.report/2"),
        (["counts", "error"], -1),
        (["stages", "training"], "maybe"),
        (["findings", 0, "severity"], "fatal"),
        (["findings", 0, "category"], "weather"),
        (["findings", 0, "confidence"], 1.5),
        (["findings", 0, "title"], None),
        (["findings", 0, "fix"], "reinstall"),
        (["findings", 0, "location", "line"], "41"),
        (["findings", 0, "evidence", 0, "from"], 1),
        (["findings", 0, "because"], "x"),
        (["undetermined", 0, "reason"], None),
        (["notes"], None),
    ],
)
def test_wrong_reports_are_refused(path: list[str | int], value: Any) -> None:
    """A member of the wrong type or beyond its closed list is refused."""
    document: Any = json.loads(json.dumps(report().to_json()))
    inner = document
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value

    assert not REPORT.is_valid(document)


def test_every_member_is_described() -> None:
    """The schema of reports names each member of a finding that `to_json` writes, and no other."""
    written = report().to_json()["findings"][0]
    described = schema("report")["$defs"]["Finding"]["properties"]

    assert set(described) == set(written)
    assert set(schema("report")["properties"]) == {*report().to_json(), "parity"}
