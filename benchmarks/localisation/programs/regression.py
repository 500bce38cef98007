"""Predict a smooth function of five measurements."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

measured = rng.uniform(0, 1, size=(1500, 5))
wanted = (
    10 * np.sin(np.pi * measured[:, 0] * measured[:, 1])
    + 20 * (measured[:, 2] - 0.5) ** 2
    + 10 * measured[:, 3]
    + 5 * measured[:, 4]
    + rng.normal(0, 0.5, size=1500)
)
features = (measured - 0.5) / 0.29
targets = (wanted - wanted.mean()) / wanted.std()

model = keras.Sequential(
    [
        keras.Input(shape=(5,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
rate = 0.005
model.compile(optimizer=keras.optimizers.Adam(learning_rate=rate), loss="mse", metrics=["mae"])
model.fit(
    features[:1200],
    targets[:1200],
    batch_size=32,
    epochs=30,
    validation_data=(features[1200:], targets[1200:]),
    verbose=0,
)
