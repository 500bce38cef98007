"""One-hot labels, layers with batch normalisation, logits at the output."""

import keras
import numpy as np

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
labels = rng.integers(0, 5, 500)
x = (rng.normal(size=(5, 9))[labels] * 3 + rng.normal(size=(500, 9))).astype("float32") * 40
y = keras.utils.to_categorical(labels, 5)

model = keras.Sequential(
    [
        keras.Input((9,)),
        keras.layers.Dense(32, use_bias=False),
        keras.layers.BatchNormalization(),
        keras.layers.Activation("relu"),
        keras.layers.Dense(24),
        keras.layers.LeakyReLU(),
        keras.layers.Dropout(0.5),
        keras.layers.Dense(5),
    ]
)
model.compile(
    optimizer="rmsprop", loss=keras.losses.CategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)  # fmt: skip
model.fit(x, y, epochs=8, batch_size=25, validation_split=0.2, verbose=0)
