"""Predict a class and an amount from the same measurements."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

kind = rng.integers(0, 4, size=1500)
centres = rng.normal(0, 2, size=(4, 10))
measured = (centres[kind] + rng.normal(0, 1, size=(1500, 10))) / 2
amount = measured[:, 0] - 0.5 * measured[:, 1] + rng.normal(0, 0.1, size=1500)

inputs = keras.Input(shape=(10,))
shared = layers.Dense(32, activation="relu")(inputs)
shared = layers.Dense(16, activation="relu")(shared)
kind_output = layers.Dense(4, activation="softmax", name="kind")(shared)
amount_output = layers.Dense(1, name="amount")(shared)
model = keras.Model(inputs, {"kind": kind_output, "amount": amount_output})
model.compile(
    optimizer=keras.optimizers.Adam(0.005),
    loss={"kind": "sparse_categorical_crossentropy", "amount": "mean_squared_error"},
    metrics={"kind": ["accuracy"], "amount": ["mae"]},
)
model.fit(
    measured,
    {"kind": kind, "amount": amount},
    epochs=15,
    batch_size=32,
    validation_split=0.2,
    verbose=0,
)
