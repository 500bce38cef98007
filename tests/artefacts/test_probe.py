"""The probe names models without their folders, and one bad model costs no other."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.probing.host import Host
from envcheck.probing.run import run_probes
from tests.artefacts.test_recorded import DATA, EXPECTED

if TYPE_CHECKING:
    from pathlib import Path

    from envcheck.facts import Facts


def probe(host: Host) -> Facts:
    """Run the probe as a capture does, with the redaction."""
    return run_probes(host, ["models"])


def test_no_model_no_fact() -> None:
    """Without a model there is nothing to say."""
    assert probe(Host()) == {}


def test_a_path_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live path may be relative; its folders do not appear anywhere in the fact."""
    folder = tmp_path / "customer-42"
    folder.mkdir()
    shutil.copy(DATA / "plain.onnx", folder)
    monkeypatch.chdir(tmp_path)

    paths = ["customer-42/plain.onnx", "./customer-42/../customer-42/plain.onnx"]
    facts = probe(Host(models=paths))

    assert list(facts) == ["model.plain.onnx"]
    assert facts["model.plain.onnx"].value["ir_version"] == 8
    assert "customer" not in str(facts)


def test_models_of_one_name(tmp_path: Path) -> None:
    """Models of one file name are numbered in the order given."""
    paths = []
    for folder, stored in (("a", "plain.onnx"), ("b", "branches.onnx")):
        (tmp_path / folder).mkdir()
        paths.append(str(shutil.copy(DATA / stored, tmp_path / folder / "model.onnx")))
    facts = probe(Host(models=paths))

    assert {key: fact.value["ir_version"] for key, fact in facts.items()} == {
        "model.model.onnx": 8,
        "model.model.onnx~2": 10,
    }


def test_a_folder_with_a_slash() -> None:
    """A SavedModel may be named with a slash at the end."""
    facts = probe(Host(models=[f"{DATA}/exported/"]))

    assert list(facts) == ["model.exported"]
    assert facts["model.exported"].value["format"] == "savedmodel"


def test_below_a_root(tmp_path: Path) -> None:
    """Below a root, absolute paths and links stay inside it."""
    (tmp_path / "models").mkdir()
    for name in ("external.onnx", "external.weights"):
        shutil.copy(DATA / name, tmp_path / "models")
    (tmp_path / "current.onnx").symlink_to("/models/external.onnx")
    (tmp_path / "outside.onnx").symlink_to(DATA / "plain.onnx")

    facts = probe(Host(str(tmp_path), models=["/models/external.onnx", "current.onnx",
                                              "/outside.onnx", "../../../models"]))  # fmt: skip

    assert facts["model.external.onnx"].value["external_missing"] == []
    assert facts["model.external.onnx"].value["external_outside"] == []
    assert (
        facts["model.current.onnx"].value["sha256"]
        == (facts["model.external.onnx"].value["sha256"])
    )
    assert facts["model.outside.onnx"].reason == "outside.onnx does not exist"
    assert facts["model.models"].state == "error"


def test_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing or broken is an error, what may not be read is unknown, with reasons."""
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "locked.onnx").write_bytes((DATA / "plain.onnx").read_bytes())
    real = os.open

    def guarded(path: Any, *args: Any, **more: Any) -> int:
        if str(path).endswith("locked.onnx"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *args, **more)

    monkeypatch.setattr(os, "open", guarded)
    names = ("empty.onnx", "locked.onnx", "none.onnx")
    facts = probe(Host(models=[str(tmp_path / name) for name in names]))

    assert {key: (fact.state, fact.reason) for key, fact in facts.items()} == {
        "model.empty.onnx": ("error", "empty.onnx is empty"),
        "model.locked.onnx": ("unknown", "locked.onnx is not readable"),
        "model.none.onnx": ("error", "none.onnx does not exist"),
    }


def test_an_unforeseen_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that fails in an unforeseen way costs its own fact only."""
    module = importlib.import_module("envcheck.artefacts.describing")
    real = module.describe

    def failing(place: Any) -> Any:
        if place.name == "plain.keras":
            raise MemoryError
        return real(place)

    monkeypatch.setattr(module, "describe", failing)
    facts = probe(Host(models=[str(DATA / "plain.keras"), str(DATA / "plain.onnx")]))

    assert facts["model.plain.keras"].reason == "plain.keras cannot be read: MemoryError"
    assert facts["model.plain.onnx"].is_ok


def test_a_name_with_control_characters(tmp_path: Path) -> None:
    """A file name cannot break the one-fact-per-line form."""
    path = tmp_path / "a\nb.bin"
    path.write_bytes(b"data")

    assert list(probe(Host(models=[str(path)]))) == ["model.a_b.bin"]


def test_every_recorded_artefact_is_ok() -> None:
    """All recorded artefacts pass the checks of the runner and the redaction unchanged."""
    facts = probe(Host(models=[str(DATA / name) for name in EXPECTED]))

    assert [key for key, fact in facts.items() if not fact.is_ok] == []
    assert "[redacted]" not in str(facts)
