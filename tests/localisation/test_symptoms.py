"""Symptoms in hand-made probes: which layer, between which batches, and when none is raised."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

from envcheck.localisation.symptoms import Symptom, bracket, symptoms_of

LAYERS = ("one", "two", "three", "four")
STEPS = (0, 1, 2, 4, 8, 16, 32)
PER_EPOCH = 10


def weight(layer: str) -> dict[str, Any]:
    """Return a healthy kernel."""
    return {
        "layer": layer, "name": "kernel", "trainable": True, "mean_abs": 0.1, "std": 0.1,
        "max_abs": 0.5, "small_share": 0.0, "nonfinite_share": 0.0, "nan_share": 0.0,
        "gradient_mean_abs": 0.01, "gradient_norm": 0.1, "gradient_max_abs": 0.05,
        "gradient_zero_share": 0.0, "gradient_nonfinite_share": 0.0, "gradient": "ok",
        "update_ratio": 0.001,
    }  # fmt: skip


def call(path: str) -> dict[str, Any]:
    """Return a healthy layer."""
    return {
        "path": path, "call": 0, "mean": 0.1, "std": 1.0, "min": -2.0, "max": 2.0, "p95_abs": 1.5,
        "zero_share": 0.0, "saturated_share": 0.0, "dead_share": 0.0, "constant_share": 0.0,
        "nonfinite_share": 0.0, "nan_share": 0.0,
    }  # fmt: skip


def fit() -> dict[str, Any]:
    """Return a healthy fit, probed before seven steps."""
    probes = [
        {
            "step": step, "epoch": step // PER_EPOCH, "batch": step % PER_EPOCH,
            "loss": 1.0 / (1 + step), "reason": None,
            "layers": [call(path) for path in LAYERS],
            "weights": [weight(path) for path in LAYERS],
            "outputs": [{"output": None, "range": [0.0, 1.0], "constant": False}],
        }
        for step in STEPS
    ]  # fmt: skip
    return {"id": "f0", "model": "m0", "probes": probes, "losses": [{"name": "mse"}],
            "optimiser": {}, "data": {}, "curves": {}}  # fmt: skip


def model(**classes: str) -> dict[str, Any]:
    """Return the model, whose last layer gives the output."""
    layers = [{"path": path, "class": classes.get(path, "Dense")} for path in LAYERS]
    return {"id": "m0", "layers": layers, "outputs": [{"layer": "four"}]}


def only(found: list[Symptom], kind: str) -> Symptom:
    """Return the symptom of a kind; fails when there is none."""
    return next(symptom for symptom in found if symptom.kind == kind)


def kinds(document: dict[str, Any], **classes: str) -> set[str]:
    """Return the kinds of symptoms of a fit."""
    return {symptom.kind for symptom in symptoms_of(document, model(**classes))}


def test_a_healthy_fit_has_no_symptom() -> None:
    """Nothing is raised on healthy numbers, and nothing on no numbers."""
    assert symptoms_of(fit(), model()) == []
    assert symptoms_of({**fit(), "probes": []}, None) == []


def test_the_weight_that_broke_first() -> None:
    """One weight is NaN at step 8, all are at 16: the layer is that of step 8."""
    document = fit()
    document["probes"][4]["weights"][2]["nonfinite_share"] = 0.01
    for entry in document["probes"][5]["weights"]:
        entry["nonfinite_share"] = 1.0

    symptom = only(symptoms_of(document, model()), "nonfinite-weights")

    assert (symptom.layer, symptom.tensor) == ("three", "kernel")
    assert bracket(symptom) == "between batch 4 and batch 8 of epoch 1"


def test_nan_everywhere_names_no_layer() -> None:
    """When one step has made all weights NaN the first layer is not known."""
    document = fit()
    for entry in document["probes"][5]["weights"]:
        entry["nonfinite_share"] = 1.0

    symptom = only(symptoms_of(document, model()), "nonfinite-step")

    assert symptom.layer == ""
    assert bracket(symptom) == "between batch 8 of epoch 1 and batch 6 of epoch 2"


def test_nan_everywhere_after_growth_is_an_overflow() -> None:
    """Weights of layer two had grown 200 times over before the NaN."""
    document = fit()
    document["probes"][4]["weights"][1]["max_abs"] = 100.0
    for entry in document["probes"][5]["weights"]:
        entry["nonfinite_share"] = 1.0

    assert only(symptoms_of(document, model()), "overflow").layer == "two"


def test_data_with_nan_accounts_for_nan_everywhere() -> None:
    """NaN among the inputs is named before any layer."""
    document = fit()
    document["data"] = {"inputs": [{"nan_share": 0.01, "inf_share": 0.0}]}
    for entry in document["probes"][5]["weights"]:
        entry["nonfinite_share"] = 1.0

    symptom = only(symptoms_of(document, model()), "nonfinite-input")

    assert "data/inputs/0/nan_share" in symptom.sources


def test_values_made_by_a_layer() -> None:
    """Weights and inputs are finite, layer three gives NaN, and so does the loss."""
    document = fit()
    probe = document["probes"][3]
    probe["loss"] = math.nan
    for place in (2, 3):
        probe["layers"][place] |= {"nonfinite_share": 0.5, "nan_share": 0.5}

    symptom = only(symptoms_of(document, model()), "nonfinite-values")

    assert (symptom.layer, symptom.others) == ("three", ("four",))
    assert bracket(symptom) == "between batch 2 and batch 4 of epoch 1"


def test_an_infinity_that_reaches_nothing_is_by_design() -> None:
    """Masks put −∞ into attention scores; loss, outputs and gradients stay finite."""
    document = fit()
    for probe in document["probes"]:
        probe["layers"][1]["nonfinite_share"] = 0.3

    assert kinds(document) == set()


def test_a_gradient_is_born_at_the_layer_nearest_to_the_loss() -> None:
    """Gradients of layers one and two are NaN, those of three and four are not."""
    document = fit()
    for place in (0, 1):
        document["probes"][5]["weights"][place]["gradient_nonfinite_share"] = 1.0

    assert only(symptoms_of(document, model()), "nonfinite-gradient").layer == "two"
    assert kinds({**document, "mixed_precision": "mixed_float16"}) == set()


def test_a_loss_of_finite_outputs() -> None:
    """The loss alone is infinite from before the first step on."""
    document = fit()
    for probe in document["probes"]:
        probe["loss"] = math.inf

    symptom = only(symptoms_of(document, model()), "nonfinite-loss")

    assert bracket(symptom) == "before the first batch"


def test_a_batch_that_no_probe_saw() -> None:
    """The curve alone knows of the NaN; the bracket ends with that batch."""
    document = fit()
    document["curves"] = {"first_nonfinite_loss": {"step": 5, "epoch": 0, "batch": 5}}

    symptom = only(symptoms_of(document, model()), "nonfinite-step")

    assert bracket(symptom) == "between batch 4 and batch 6 of epoch 1"


@pytest.mark.parametrize(("share", "expected"), [(0.95, {"dead"}), (0.6, {"dying"}), (0.45, set())])
def test_dead_units(share: float, expected: set[str]) -> None:
    """90 % and more stop a layer, half hamper it, less is sparsity."""
    document = fit()
    for probe in document["probes"][4:]:
        probe["layers"][1]["dead_share"] = share

    assert kinds(document) == expected


def test_units_that_recover_are_not_dead() -> None:
    """Dead at step 8, alive at the end."""
    document = fit()
    document["probes"][4]["layers"][1]["dead_share"] = 1.0

    assert kinds(document) == set()


def test_saturation_counts_in_hidden_layers_only() -> None:
    """The output of a confident classifier lies at its bounds."""
    hidden, output = fit(), fit()
    for probe in hidden["probes"][4:]:
        probe["layers"][1]["saturated_share"] = 0.9
    for probe in output["probes"][4:]:
        probe["layers"][3]["saturated_share"] = 0.9

    assert only(symptoms_of(hidden, model()), "saturated").layer == "two"
    assert kinds(output) == set()


def test_nothing_is_said_behind_averages_that_have_not_settled() -> None:
    """Layer two is a batch normalisation: 32 steps say nothing of layer three."""
    document = fit()
    for probe in document["probes"]:
        probe["layers"][2]["saturated_share"] = 1.0

    assert kinds(document, two="BatchNormalization") == set()
    assert kinds(document) == {"saturated"}


def test_vanishing_needs_a_gradient_nearer_to_the_loss() -> None:
    """Small everywhere is a good fit; small in front only is vanishing."""
    front, everywhere = fit(), fit()
    for document, places in ((front, (0, 1)), (everywhere, (0, 1, 2, 3))):
        for probe in document["probes"]:
            for place in places:
                probe["weights"][place] |= {
                    "gradient_mean_abs": 1e-9, "gradient_norm": 1e-8, "update_ratio": 1e-8,
                }  # fmt: skip

    symptom = only(symptoms_of(front, model()), "vanishing")

    assert symptom.layer == "three"
    assert symptom.others == ("one", "two")
    assert kinds(everywhere) == set()


def test_a_gradient_that_an_optimiser_makes_up_for_has_not_vanished() -> None:
    """Adam moves the weights by 0.1 % although the gradient is tiny."""
    document = fit()
    for probe in document["probes"]:
        probe["weights"][0] |= {"gradient_mean_abs": 1e-9, "gradient_norm": 1e-8}

    assert kinds(document) == set()


def test_growth_has_to_last() -> None:
    """A thousandfold weight at the end explodes, one that comes back does not."""
    lasting, passing = fit(), fit()
    for probe in lasting["probes"][4:]:
        probe["weights"][2]["max_abs"] = 900.0
    passing["probes"][4]["weights"][2]["max_abs"] = 900.0

    symptom = only(symptoms_of(lasting, model()), "exploding")

    assert (symptom.layer, symptom.tensor) == ("three", "kernel")
    assert bracket(symptom) == "between batch 4 and batch 8 of epoch 1"
    assert kinds(passing) == set()


def test_a_frozen_layer_beside_layers_that_move() -> None:
    """Layer two stops moving at step 8; with all layers still it is the whole model."""
    one, every = fit(), fit()
    for probe in one["probes"][4:]:
        probe["weights"][1]["update_ratio"] = 0.0
    for probe in every["probes"]:
        for entry in probe["weights"]:
            entry["update_ratio"] = 0.0

    symptom = only(symptoms_of(one, model()), "frozen")

    assert symptom.layer == "two"
    assert bracket(symptom) == "between batch 4 and batch 8 of epoch 1"
    assert kinds(every) == {"unchanged"}


@pytest.mark.parametrize(
    "change", [{"trainable": False}, {"update_ratio": None}, {"gradient": "none"}]
)
def test_what_is_not_a_frozen_layer(change: dict[str, Any]) -> None:
    """Set to stay, not measured, or without a gradient path, which is another fault."""
    document = fit()
    for probe in document["probes"]:
        probe["weights"][1] |= {"update_ratio": 0.0, **change}

    assert kinds(document) == set()


def test_a_warm_up_is_not_unchanged() -> None:
    """A schedule may begin with a learning rate of 0."""
    document = fit()
    document["optimiser"] = {"schedule": "CosineDecay"}
    for probe in document["probes"]:
        for entry in probe["weights"]:
            entry["update_ratio"] = 0.0

    assert kinds(document) == set()


def test_a_constant_output_begins_at_its_first_constant_layer() -> None:
    """Layers three and four are constant; layer one, such as an embedding of places, may be."""
    document = fit()
    for probe in document["probes"][2:]:
        probe["outputs"][0]["constant"] = True
        for place in (0, 2, 3):
            probe["layers"][place]["constant_share"] = 1.0

    symptom = only(symptoms_of(document, model()), "constant")

    assert (symptom.layer, symptom.others) == ("three", ("four",))


def test_the_loss_of_the_same_rows() -> None:
    """Equal at all probes is still; equal and 0 is perfect."""
    still, perfect = fit(), fit()
    for probe in still["probes"]:
        probe["loss"] = 0.7
    for probe in perfect["probes"]:
        probe["loss"] = 0.0

    assert kinds(still) == {"still"}
    assert kinds(perfect) == set()


def test_missing_numbers_are_no_symptom() -> None:
    """Every number of every probe is null, as where nothing could be measured."""
    document = fit()
    for probe in document["probes"]:
        probe["loss"] = None
        for entry in [*probe["layers"], *probe["weights"]]:
            for key, value in copy.copy(entry).items():
                if isinstance(value, float):
                    entry[key] = None

    assert kinds(document) == set()
