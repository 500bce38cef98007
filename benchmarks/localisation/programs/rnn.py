"""Decide with an LSTM whether a sequence of numbers has a positive sum in its first half."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

steps = rng.normal(0, 1, size=(1400, 10, 1)).astype("float32")
answer = (steps[:, :, 0].sum(axis=1) > 0).astype("int32")

model = keras.Sequential()
model.add(keras.Input(shape=(10, 1)))
model.add(layers.LSTM(16))
model.add(layers.Dense(8, activation="relu"))
model.add(layers.Dense(1, activation="sigmoid"))
optimizer = keras.optimizers.Adam(learning_rate=0.01)
model.compile(loss="binary_crossentropy", optimizer=optimizer, metrics=["accuracy"])
model.fit(steps, answer, epochs=12, batch_size=32, validation_split=0.2, verbose=0)
