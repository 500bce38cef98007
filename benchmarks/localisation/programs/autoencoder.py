"""Compress small images of two bright bars to six numbers and back."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

images = np.zeros((1200, 8, 8), dtype="float32")
for image in images:
    image[rng.integers(0, 8)] += 0.5
    image[:, rng.integers(0, 8)] += 0.5
flat = images.reshape(len(images), 64)

encoder = keras.Sequential(
    [
        keras.Input(shape=(64,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(12, activation="relu"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input(shape=(12,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(64, activation="sigmoid"),
    ],
    name="decoder",
)
inputs = keras.Input(shape=(64,))
autoencoder = keras.Model(inputs, decoder(encoder(inputs)), name="autoencoder")
autoencoder.compile(optimizer=keras.optimizers.Adam(0.005), loss="mse")
autoencoder.fit(flat, flat, epochs=30, batch_size=32, validation_split=0.15, verbose=0)
