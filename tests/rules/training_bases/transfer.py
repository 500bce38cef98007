"""A trained and frozen base below a head that is fine-tuned with small steps."""

import keras
import numpy as np

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
y = rng.integers(0, 4, 400)
x = (rng.normal(size=(4, 8))[y] * 2 + rng.normal(size=(400, 8))).astype("float32")
base = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(24, activation="relu"),
        keras.layers.Dense(24, activation="relu"),
    ],
    name="base",
)
teacher = keras.Sequential([base, keras.layers.Dense(4, activation="softmax")], name="teacher")
teacher.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
teacher.fit(x, y, epochs=5, verbose=0)

base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(4, activation="softmax")], name="student")
model.compile(
    optimizer=keras.optimizers.SGD(0.001), loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)  # fmt: skip
model.fit(x, y, epochs=3, batch_size=16, validation_split=0.25, verbose=0)
