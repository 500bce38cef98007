"""Rare positives, with class weights and a metric that looks at them."""

import keras
import numpy as np

keras.utils.set_random_seed(20)
rng = np.random.default_rng(20)
x = rng.normal(size=(800, 6)).astype("float32")
y = (x[:, 0] + 0.7 * rng.normal(size=800) > 2.2).astype("int32")
model = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer="adam", loss="binary_crossentropy", metrics=["accuracy", keras.metrics.AUC()]
)
model.fit(
    x, y, epochs=6, batch_size=40, validation_split=0.2, class_weight={0: 1.0, 1: 20.0}, verbose=0
)
