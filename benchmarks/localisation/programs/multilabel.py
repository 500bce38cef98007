"""Give each item any number of five tags."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
TAGS = 5
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

items = rng.normal(0, 1, size=(1500, 20)).astype("float32")
directions = rng.normal(0, 1, size=(20, TAGS))
tags = (items @ directions + rng.normal(0, 0.5, size=(1500, TAGS)) > 0).astype("float32")

inputs = keras.Input(shape=(20,), name="item")
hidden = layers.Dense(32, activation="relu", name="first")(inputs)
hidden = layers.Dense(32, activation="relu", name="second")(hidden)
outputs = layers.Dense(TAGS, activation="sigmoid", name="tags")(hidden)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(0.003),
    loss=keras.losses.BinaryCrossentropy(),
    metrics=[keras.metrics.BinaryAccuracy()],
)
model.fit(items, tags, epochs=15, batch_size=32, validation_split=0.2, verbose=0)
