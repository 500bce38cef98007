"""Sequences of word numbers through an embedding and an LSTM, one sigmoid unit."""

import keras
import numpy as np

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
x = rng.integers(1, 200, size=(1600, 20))
y = (np.sum(x < 60, axis=1) > 6).astype("int32")

model = keras.Sequential(
    [
        keras.Input((20,), dtype="int32"),
        keras.layers.Embedding(200, 8),
        keras.layers.LSTM(16),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"]
)
model.fit(x, y, epochs=6, batch_size=32, validation_split=0.2, verbose=0)
