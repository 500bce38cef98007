"""A generator and a discriminator trained against each other, batch by batch."""

import keras
import numpy as np

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
real = rng.normal(2, 0.5, size=(256, 3)).astype("float32")
generator = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((3,)),
        keras.layers.Dense(16),
        keras.layers.LeakyReLU(),
        keras.layers.Dense(1, activation="sigmoid"),
    ],
    name="discriminator",
)
discriminator.compile(optimizer="adam", loss="binary_crossentropy")
both = keras.Sequential([generator, discriminator], name="both")
both.compile(optimizer="adam", loss="binary_crossentropy")
for _ in range(40):
    noise = rng.normal(size=(32, 4)).astype("float32")
    batch = real[rng.integers(0, 256, 32)]
    rows = np.concatenate([batch, generator.predict_on_batch(noise)])
    discriminator.trainable = True
    discriminator.train_on_batch(rows, np.repeat([[1.0], [0.0]], 32, axis=0))
    discriminator.trainable = False
    both.train_on_batch(noise, np.ones((32, 1)))
