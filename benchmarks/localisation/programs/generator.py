"""Train from an endless generator of random problems."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def problems():
    while True:
        x = rng.uniform(-1, 1, size=(32, 6)).astype("float32")
        y = (x[:, 0] * x[:, 1] + x[:, 2]).astype("float32")[:, None]
        yield x, y


model = keras.Sequential(
    [
        keras.Input(shape=(6,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="mean_squared_error")
model.fit(problems(), steps_per_epoch=40, epochs=15, verbose=0)
