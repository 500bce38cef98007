"""An autoencoder of pixels from 0 to 1 with a narrow linear code."""

import keras
import numpy as np

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)
basis = rng.uniform(size=(3, 64))
x = rng.dirichlet((1, 1, 1), size=400) @ basis
x = x.astype("float32")

model = keras.Sequential(
    [
        keras.Input((64,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(4, name="code"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(64, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="mse")
model.fit(x, x, epochs=20, batch_size=20, verbose=0)
