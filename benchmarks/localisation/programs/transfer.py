"""Train a network on one task, freeze it, and train a new head on a related one."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

points = rng.normal(0, 1, size=(2000, 16)).astype("float32")
directions = rng.normal(0, 1, size=(16, 6))
hidden_truth = np.maximum(points @ directions, 0)
first_task = hidden_truth.argmax(axis=1)
second_task = (hidden_truth[:, 0] + hidden_truth[:, 1] > hidden_truth[:, 2]).astype("int32")

base = keras.Sequential(
    [
        keras.Input(shape=(16,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(24, activation="relu"),
    ],
    name="base",
)
old_head = layers.Dense(6, activation="softmax", name="old_head")
source = keras.Sequential([base, old_head])
source.compile(
    keras.optimizers.Adam(0.003), "sparse_categorical_crossentropy", metrics=["accuracy"]
)
source.fit(points[:1500], first_task[:1500], epochs=15, validation_split=0.2, verbose=0)

base.trainable = False
inputs = keras.Input(shape=(16,))
new_head = layers.Dense(1, activation="sigmoid", name="new_head")
model = keras.Model(inputs, new_head(base(inputs, training=False)))
model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
model.fit(points[:1500], second_task[:1500], epochs=15, validation_split=0.2, verbose=0)
print(model.evaluate(points[1500:], second_task[1500:], verbose=0)[1] > 0.5)
