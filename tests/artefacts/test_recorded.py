"""Every recorded artefact says what the library that wrote it says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place

DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, dict[str, Any]] = json.loads((DATA / "expected.json").read_text("utf-8"))


def facts_of(name: str) -> dict[str, Any]:
    """Return the facts of a recorded artefact."""
    return describe(Place(str(DATA / name)))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_facts(name: str) -> None:
    """Each recorded fact is found, with the same value."""
    facts = facts_of(name)
    expected = dict(EXPECTED[name])
    signatures = expected.pop("signature_names", None)

    assert {field: facts.get(field) for field in expected} == expected
    if signatures is not None:
        assert [item["name"] for item in facts["signatures"]] == signatures


@pytest.mark.parametrize("name", sorted(name for name in EXPECTED if (DATA / name).is_file()))
def test_digest_and_size(name: str) -> None:
    """The digest and the size are those of the file."""
    data = (DATA / name).read_bytes()
    facts = facts_of(name)

    assert facts["sha256"] == hashlib.sha256(data).hexdigest()
    assert facts["bytes"] == len(data)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_facts_are_declared_json(name: str) -> None:
    """Facts are plain JSON, every field is declared in the catalogue, and nothing is unread."""
    from envcheck.catalogue import KEYS

    facts = facts_of(name)

    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert set(facts) - set(KEYS["model.*"].fields) == set()
    assert "unread" not in facts


def test_metadata_is_not_content() -> None:
    """A fingerprint in metadata_props changes the file's digest, not that of its content."""
    plain, carrying = facts_of("plain.onnx"), facts_of("plain_with_metadata.onnx")

    assert plain["sha256"] != carrying["sha256"]
    assert plain["content_sha256"] == carrying["content_sha256"] == plain["sha256"]


def test_every_file_is_expected() -> None:
    """No recorded artefact is left unchecked."""
    known = {*EXPECTED, "expected.json", "external.weights", "plain_with_metadata.onnx"}

    assert {path.name for path in DATA.iterdir()} == known
