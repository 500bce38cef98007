"""Construction sites: what they cost, and that nothing is left behind."""

from __future__ import annotations

import statistics
import time
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("keras")
pytest.importorskip("tensorflow")


def _state() -> list[Any]:
    import keras
    from keras.src.optimizers.base_optimizer import BaseOptimizer
    from keras.src.saving import saving_api

    return [
        keras.Operation.__dict__["__new__"], BaseOptimizer.__init__, keras.losses.Loss.__init__,
        keras.metrics.Metric.__init__, saving_api.load_weights, keras.layers.Layer.set_weights,
        keras.Model.compile,
    ]  # fmt: skip


def test_hooks_are_taken_away() -> None:
    """Every hooked function is the original one afterwards, and `compile` always is."""
    import keras

    from envcheck.localisation.recording.sites import Sites

    before = _state()
    sites = Sites()
    sites.install()
    during = _state()
    layer = keras.layers.Dense(3)
    sites.remove()
    assert _state() == before
    assert [old is new for old, new in zip(before, during, strict=True)] == [False] * 6 + [True]
    assert sites.chain(layer)
    assert not sites.chain(keras.layers.Dense(3))


def test_objects_are_not_kept_alive() -> None:
    """A site is forgotten with its object."""
    import gc

    import keras

    from envcheck.localisation.recording.sites import Sites

    sites = Sites()
    sites.install()
    try:
        for _ in range(20):
            keras.optimizers.SGD(0.1)
        gc.collect()
        assert len(sites._origins) == 0
    finally:
        sites.remove()


def test_objects_can_still_be_copied_and_pickled() -> None:
    """What is noted is not part of the object."""
    import copy
    import pickle

    import keras

    from envcheck.localisation.recording.sites import Sites

    sites = Sites()
    sites.install()
    try:
        layer = keras.layers.Dense(3, name="one")
        assert copy.deepcopy(layer).name == "one"
        assert keras.layers.Dense.from_config(layer.get_config()).units == 3
        loss = keras.losses.Huber(delta=2.0)
        assert pickle.loads(pickle.dumps(loss)).get_config() == loss.get_config()
    finally:
        sites.remove()


@pytest.mark.bench
def test_the_cost_of_noting_a_layer() -> None:
    """Making a layer takes at most a tenth longer, by the median of pairs."""
    import keras

    from envcheck.localisation.recording.sites import Sites

    def made() -> float:
        begun = time.process_time()
        for _ in range(300):
            keras.layers.Dense(3)
        return time.process_time() - begun

    made()
    ratios = []
    for _ in range(11):
        plain = made()
        sites = Sites()
        sites.install()
        noted = made()
        sites.remove()
        ratios.append(noted / plain)
    assert statistics.median(ratios) <= 1.1
