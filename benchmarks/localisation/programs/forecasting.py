"""Forecast the next value of a noisy periodic series with a GRU."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
WINDOW = 16
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

time = np.arange(1400)
series = np.sin(time / 6) + 0.5 * np.sin(time / 2.3) + rng.normal(0, 0.05, size=len(time))
windows = np.stack([series[start : start + WINDOW] for start in range(len(series) - WINDOW)])
following = series[WINDOW:]
windows = windows[..., None].astype("float32")

model = keras.Sequential(
    [
        keras.Input(shape=(WINDOW, 1)),
        layers.GRU(16),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mae")
stop = keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True)
model.fit(
    windows[:1100],
    following[:1100],
    epochs=20,
    batch_size=32,
    validation_data=(windows[1100:], following[1100:]),
    callbacks=[stop],
    verbose=0,
)
