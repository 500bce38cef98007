"""Tell two interleaved half moons apart."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def half_moons(count):
    angle = rng.uniform(0, np.pi, size=count)
    side = rng.integers(0, 2, size=count)
    x = np.where(side == 0, np.cos(angle), 1 - np.cos(angle))
    y = np.where(side == 0, np.sin(angle), 0.5 - np.sin(angle))
    points = np.stack([x, y], axis=1) + rng.normal(0, 0.12, size=(count, 2))
    return points.astype("float32"), side.astype("float32")


x, y = half_moons(1600)

model = keras.Sequential(
    [
        keras.Input(shape=(2,)),
        layers.Dense(24, activation="tanh"),
        layers.Dense(24, activation="tanh"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"]
)
history = model.fit(x, y, epochs=25, batch_size=64, validation_split=0.2, verbose=0)
