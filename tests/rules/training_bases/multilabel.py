"""Tags of which several hold at a time: sigmoid units with binary cross-entropy."""

import keras
import numpy as np

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
x = rng.normal(size=(500, 10)).astype("float32")
y = (x @ rng.normal(size=(10, 5)) > 0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((10,)),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(5, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["binary_accuracy"])
model.fit(x, y, epochs=15, batch_size=20, validation_split=0.2, verbose=0)
