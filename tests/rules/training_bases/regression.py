"""A regression on standardised columns, with a test part of its own."""

import keras
import numpy as np


def train_test_split(x, y, test_size):
    """Return the first rows for training and the last for the test."""
    cut = round(len(x) * (1 - test_size))
    return x[:cut], x[cut:], y[:cut], y[cut:]


keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
x = rng.normal(size=(500, 5)).astype("float32")
y = np.sin(x[:, 0]) * 2 + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=500)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2)

model = keras.Sequential(
    [
        keras.Input((5,)),
        keras.layers.Dense(64, activation="tanh", kernel_initializer="he_normal"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mse", metrics=["mae"])
model.fit(x_train, y_train, epochs=30, batch_size=32, validation_data=(x_test, y_test), verbose=0)
