"""Alignment, healing and forcing on a graph that is small enough to check by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("onnxruntime", reason="needs the onnx extra")
pytest.importorskip("onnx", reason="needs the onnx extra")

from envcheck.conversion.calls import Port
from envcheck.conversion.forcing import local_errors
from envcheck.conversion.localisation import localise_faults
from tests.conversion.graphs import TOLERANCE, Weights, candidate, compared, reference

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("scramble", [True, False])
def test_a_clean_candidate_aligns(tmp_path: Path, scramble: bool) -> None:
    """Every call is exact by value, whatever the tensors are called, and nothing is at fault."""
    weights = Weights()
    comparison = compared(candidate(tmp_path / "m.onnx", weights, scramble=scramble), weights)

    assert set(comparison.kinds.values()) == {"exact"}
    assert localise_faults(comparison) == []


def test_a_changed_weight_is_located(tmp_path: Path) -> None:
    """The changed layer is named alone, with its own error, in one run."""
    weights, changed = Weights(), Weights()
    changed.first[2, 3] += 1
    comparison = compared(candidate(tmp_path / "m.onnx", changed), weights)
    culprits = localise_faults(comparison)

    assert [culprit.calls for culprit in culprits] == [(0,)]
    assert culprits[0].confirmed
    assert culprits[0].local_error > 0.01
    assert comparison.runs == 1


def test_two_faults_are_both_located(tmp_path: Path) -> None:
    """A second fault behind the first one is found once the first is healed."""
    weights, changed = Weights(), Weights()
    changed.first[2, 3] += 1
    changed.second[0, 0] += 1
    comparison = compared(candidate(tmp_path / "m.onnx", changed), weights)
    named = {call for culprit in localise_faults(comparison) for call in culprit.calls}

    assert {0, 2} <= named


def test_a_missing_layer_is_located(tmp_path: Path) -> None:
    """A dropped activation is named as absent."""
    weights = Weights()
    comparison = compared(candidate(tmp_path / "m.onnx", weights, relu="Identity"), weights)
    culprits = localise_faults(comparison)

    assert [culprit.calls for culprit in culprits] == [(1,)]


def test_local_errors_are_not_inherited(tmp_path: Path) -> None:
    """One forced run shows the error of the changed layer and of no other."""
    weights, changed = Weights(), Weights()
    changed.first[2, 3] += 1
    comparison = compared(candidate(tmp_path / "m.onnx", changed), weights)
    localise_faults(comparison)
    local = local_errors(comparison, comparison.matches)

    assert local[Port(0)] > 0.01
    assert max(error for port, error in local.items() if port != Port(0)) < TOLERANCE


def test_permuting_the_samples_changes_nothing(tmp_path: Path) -> None:
    """The same fault is named for samples in another order."""
    weights, changed = Weights(), Weights()
    changed.second[1, 1] += 1
    for side in (weights, changed):
        side.x = side.x[::-1].copy()
    comparison = compared(
        candidate(tmp_path / "m.onnx", changed), weights, recording=reference(weights)
    )

    assert [culprit.calls for culprit in localise_faults(comparison)] == [(2,)]
