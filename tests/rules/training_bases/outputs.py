"""A functional model with two outputs: a class and a quantity."""

import keras
import numpy as np

keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
x = rng.normal(size=(400, 6)).astype("float32")
kind = np.argmax(x[:, :3], axis=1)
size = x[:, 3] * 2 + x[:, 4]

inputs = keras.Input((6,), name="features")
hidden = keras.layers.Dense(32, activation="relu")(inputs)
kinds = keras.layers.Dense(3, activation="softmax", name="kind")(hidden)
sizes = keras.layers.Dense(1, name="size")(hidden)
model = keras.Model(inputs, {"kind": kinds, "size": sizes})
model.compile(
    optimizer="adam", loss={"kind": "sparse_categorical_crossentropy", "size": "mse"},
    metrics={"kind": "accuracy"},
)  # fmt: skip
model.fit(
    x, {"kind": kind, "size": size}, epochs=12, batch_size=16, validation_split=0.2, verbose=0
)
