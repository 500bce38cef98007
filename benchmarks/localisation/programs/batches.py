"""Train batch by batch in a loop of our own."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ring = rng.integers(0, 2, size=1200)
radius = 0.5 + ring + rng.normal(0, 0.12, size=1200)
angle = rng.uniform(0, 2 * np.pi, size=1200)
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype("float32")

model = keras.Sequential(
    [
        keras.Input(shape=(2,)),
        layers.Dense(24, activation="relu"),
        layers.Dense(24, activation="relu"),
        layers.Dense(2, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
for epoch in range(12):
    order = rng.permutation(len(points))
    for start in range(0, len(points), 32):
        chosen = order[start : start + 32]
        model.train_on_batch(points[chosen], ring[chosen])
