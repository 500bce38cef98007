"""Linear regression: one layer, plain gradient descent, weights that start at zero."""

import keras
import numpy as np

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
x = rng.normal(size=(300, 4)).astype("float32")
y = x @ np.array([1.0, -2.0, 0.5, 3.0]) + 0.2 * rng.normal(size=300)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="zeros")])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, epochs=30, batch_size=16, validation_split=0.2, verbose=0)
