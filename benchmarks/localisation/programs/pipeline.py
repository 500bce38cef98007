"""Feed a tf.data pipeline of raw measurements to a network that normalises them itself."""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

kind = rng.integers(0, 3, size=1500)
scales = np.array([1.0, 100.0, 5000.0, 0.01])
centres = rng.normal(0, 2, size=(3, 4))
raw = ((centres[kind] + rng.normal(0, 1, size=(1500, 4)) + 3) * scales).astype("float32")


def dataset(rows):
    pairs = tf.data.Dataset.from_tensor_slices((raw[rows], kind[rows]))
    return pairs.shuffle(500, seed=SEED).batch(32).prefetch(2)


normalise = layers.Normalization()
normalise.adapt(raw[:1200])
model = keras.Sequential(
    [
        keras.Input(shape=(4,)),
        normalise,
        layers.Dense(24, activation="gelu"),
        layers.Dense(24, activation="gelu"),
        layers.Dense(3, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(0.005), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(dataset(slice(0, 1200)), epochs=12, validation_data=dataset(slice(1200, None)), verbose=0)
