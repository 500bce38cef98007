"""A classifier on six overlapping blobs with standardised columns."""

import keras
import numpy as np

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
y = rng.integers(0, 6, 600)
x = rng.normal(size=(6, 12))[y] * 2 + rng.normal(size=(600, 12))
x = ((x - x.mean(0)) / x.std(0)).astype("float32")

model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(6, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x[:450], y[:450], epochs=12, batch_size=32, validation_data=(x[450:], y[450:]), verbose=0)
