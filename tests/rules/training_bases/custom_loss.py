"""A functional model with a loss that is a function of the program."""

import keras
import numpy as np


def weighted(target, output):
    """Return a squared error that counts high targets twice."""
    return keras.ops.mean((1 + keras.ops.cast(target > 0, "float32")) * (target - output) ** 2)


keras.utils.set_random_seed(16)
rng = np.random.default_rng(16)
x = rng.normal(size=(300, 5)).astype("float32")
y = x[:, :1] * x[:, 1:2]
inputs = keras.Input((5,))
hidden = keras.layers.Dense(32, activation="relu")(inputs)
hidden = keras.layers.Dense(32, activation="relu")(hidden)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
model.compile(optimizer="adam", loss=weighted)
model.fit(x, y, epochs=8, batch_size=16, validation_split=0.2, verbose=0)
