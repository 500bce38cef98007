"""Batches from a generator that does not tell its length."""

import keras
import numpy as np

keras.utils.set_random_seed(17)


def batches():
    """Yield batches without an end."""
    rng = np.random.default_rng(17)
    while True:
        rows = rng.normal(size=(32, 6)).astype("float32")
        yield rows, (rows[:, 0] + rows[:, 1] > 0).astype("float32")


model = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(batches(), steps_per_epoch=40, epochs=4, verbose=0)
