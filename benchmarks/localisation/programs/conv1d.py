"""Tell three kinds of waves apart with one-dimensional convolutions."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
LENGTH = 48
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

time = np.linspace(0, 4 * np.pi, LENGTH)
kind = rng.integers(0, 3, size=1200)
phase = rng.uniform(0, 2 * np.pi, size=(1200, 1))
sine = np.sin(time + phase)
square = np.sign(sine)
saw = 2 * (((time + phase) / (2 * np.pi)) % 1) - 1
waves = np.choose(kind[:, None], [sine, square, saw]) + rng.normal(0, 0.2, size=(1200, LENGTH))
waves = waves[..., None].astype("float32")

inputs = keras.Input(shape=(LENGTH, 1))
hidden = layers.Conv1D(12, 5, padding="same", use_bias=False)(inputs)
hidden = layers.BatchNormalization()(hidden)
hidden = layers.ReLU()(hidden)
hidden = layers.MaxPooling1D(2)(hidden)
hidden = layers.Conv1D(16, 5, activation="relu", kernel_initializer="he_normal")(hidden)
hidden = layers.GlobalAveragePooling1D()(hidden)
outputs = layers.Dense(3)(hidden)
model = keras.Model(inputs, outputs)

loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
model.fit(
    waves[:1000], kind[:1000], epochs=12, validation_data=(waves[1000:], kind[1000:]), verbose=0
)
