"""Settings: compared by effective value, and only where something reads them."""

from __future__ import annotations

from typing import Any

import pytest

from envcheck.comparing.compare import compare_fingerprints
from envcheck.facts import unknown
from tests.comparing.making import made

FPMATH = "env.ONEDNN_DEFAULT_FPMATH_MODE"


def loudness(rule: str, train: Any, deploy: Any) -> str:
    """Return the severity of a rule's finding, `open`, or nothing."""
    report = compare_fingerprints(train, deploy)
    found = [one.severity for one in report.findings if one.rule == rule]
    if found:
        return found[0]
    return "open" if any(one.rule == rule for one in report.undetermined) else ""


@pytest.mark.parametrize(
    ("features", "outcome"),
    [
        (["avx512_bf16"], "warning"),
        (["amx_bf16"], "warning"),
        (["avx512f"], ""),
        (unknown("/proc/cpuinfo is not readable"), "open"),
    ],
)
def test_a_mode_counts_where_the_processor_has_it(features: Any, outcome: str) -> None:
    """The processor of the side that sets the mode decides."""
    train = made({FPMATH: "STRICT"}, tensorflow="2.17.0")
    deploy = made({FPMATH: "BF16", "cpu.features": features}, tensorflow="2.17.0")

    assert loudness("ENV080", train, deploy) == outcome


def test_a_mode_without_a_reader_says_nothing() -> None:
    """Neither TensorFlow nor PyTorch is installed."""
    host = {"cpu.features": ["avx512_bf16"]}

    assert loudness("ENV080", made({FPMATH: "STRICT"}), made({FPMATH: "BF16", **host})) == ""


@pytest.mark.parametrize(
    ("backend", "packages", "outcome"),
    [
        ("jax", {}, "error"),
        ("jax", {"jax": "0.4.31"}, ""),
        ("torch", {}, "error"),
        ("tensorflow", {}, "error"),
        ("tensorflow", {"tensorflow_cpu": "2.17.0"}, ""),
        ("numpy", {}, ""),
    ],
)
def test_backend_without_its_package(backend: str, packages: dict[str, str], outcome: str) -> None:
    """Importing Keras fails where the package of its backend is not there."""
    train = made({"framework.keras_backend": "tensorflow"}, keras="3.5.0", tensorflow="2.17.0")
    deploy = made({"framework.keras_backend": backend}, keras="3.5.0", **packages)

    assert loudness("ENV084", train, deploy) == outcome


@pytest.mark.parametrize(
    ("value", "version", "legacy", "outcome"),
    [
        ("1", "2.17.0", False, "error"),
        ("1", "2.17.0", True, ""),
        ("1", "2.15.1", False, ""),
        ("0", "2.17.0", False, ""),
        (None, "2.17.0", False, ""),
    ],
)
def test_legacy_keras(value: str | None, version: str, legacy: bool, outcome: str) -> None:
    """The variable needs tf-keras from TensorFlow 2.16 on."""
    more = {"tf_keras": "2.17.0"} if legacy else {}
    side = made({"env.TF_USE_LEGACY_KERAS": value}, tensorflow=version, **more)

    assert loudness("ENV085", made({}, tensorflow=version, **more), side) == outcome


def test_a_variable_that_both_lack_is_no_question() -> None:
    """Not set on both sides is not in scope, not a pass."""
    side = made({"env.XLA_FLAGS": None})

    assert compare_fingerprints(side, side).rules["finding"] == 0
    assert loudness("ENV088", side, side) == ""
