"""The MLflow helper, against a small stand-in that keeps what it is given."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from envcheck.errors import InputError, MissingExtra
from envcheck.fingerprint.reading import read_fingerprint
from envcheck.integrations.mlflow import ARTIFACT, compare_with_run, log_fingerprint
from tests.conftest import ROOT

TRAIN = str(ROOT / "examples/train.json")
PROD = str(ROOT / "examples/prod.json")


class Store(ModuleType):
    """The part of MLflow's fluent interface that we use, with runs in memory."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.texts: dict[tuple[str, str], str] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.artifacts = SimpleNamespace(load_text=self.load_text)

    def log_text(self, text: str, artifact_file: str, run_id: str = "active") -> None:
        """Keep a text."""
        self.texts[run_id, artifact_file] = text

    def set_tags(self, tags: dict[str, Any]) -> None:
        """Keep tags of the active run."""
        self.tags.setdefault("active", {}).update(tags)

    def MlflowClient(self) -> Any:  # noqa: N802 - MLflow's name
        """Return a client."""
        return SimpleNamespace(
            set_tag=lambda run, key, value: self.tags.setdefault(run, {}).update({key: value})
        )

    def load_text(self, place: str) -> str:
        """Return a kept text by `runs:/ID/PATH`."""
        run_id, _, path = place.removeprefix("runs:/").partition("/")
        return self.texts[run_id, path]

    def get_run(self, run_id: str) -> Any:
        """Return a run."""
        return SimpleNamespace(data=SimpleNamespace(tags=self.tags.get(run_id, {})))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the stand-in, importable as `mlflow`."""
    made = Store()
    monkeypatch.setitem(sys.modules, "mlflow", made)
    return made


@pytest.mark.parametrize("run_id", [None, "r1"])
def test_log_and_compare(store: Store, run_id: str | None) -> None:
    """The artifact is the canonical file, the tag its digest; a deploy side is judged by it."""
    train = read_fingerprint(TRAIN)
    digest = log_fingerprint(train, run_id)
    key = run_id or "active"

    assert store.texts[key, ARTIFACT] == train.to_text()
    assert store.tags[key]["envcheck.digest"] == digest == train.digest
    report = compare_with_run(key, PROD)
    assert report.verdict == "does_not_conform"
    assert report.findings[0].location.file == f"runs:/{key}/{ARTIFACT}"


def test_the_default_is_this_interpreter(store: Store) -> None:
    """Without a fingerprint the running interpreter is captured as the train side."""
    log_fingerprint()

    assert '"role": "train"' in store.texts["active", ARTIFACT]


def test_a_changed_artifact_is_refused(store: Store) -> None:
    """An artifact that no longer has the digest of the tag is no base for a judgement."""
    log_fingerprint(read_fingerprint(TRAIN))
    store.texts["active", ARTIFACT] = read_fingerprint(PROD).to_text()

    with pytest.raises(InputError, match="digest differs"):
        compare_with_run("active", PROD)


def test_a_run_without_one(store: Store) -> None:
    """The message says how a run gets a fingerprint."""
    with pytest.raises(InputError, match="cannot be read") as caught:
        compare_with_run("r9")
    assert "log_fingerprint()" in caught.value.hint


def test_without_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing MLflow is one sentence that names the extra."""
    monkeypatch.setitem(sys.modules, "mlflow", None)

    with pytest.raises(MissingExtra, match="needs mlflow") as caught:
        log_fingerprint(read_fingerprint(TRAIN))
    assert "ml-envcheck[mlflow]" in caught.value.hint
