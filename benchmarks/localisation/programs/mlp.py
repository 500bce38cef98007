"""Classify six clouds of points with a small dense network."""

import sys

import keras
import numpy as np

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
CLASSES = 6
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

centres = rng.normal(0, 2.0, size=(CLASSES, 12))
labels = rng.integers(0, CLASSES, size=1500)
points = centres[labels] + rng.normal(0, 1.0, size=(1500, 12))
points = (points - points.mean(axis=0)) / points.std(axis=0)
x_train, x_test = points[:1200], points[1200:]
y_train, y_test = labels[:1200], labels[1200:]

model = keras.Sequential()
model.add(keras.Input(shape=(12,)))
model.add(keras.layers.Dense(32, activation="relu"))
model.add(keras.layers.Dense(16, activation="relu"))
model.add(keras.layers.Dense(CLASSES, activation="softmax"))

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.003),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    epochs=15,
    batch_size=32,
    validation_data=(x_test, y_test),
    verbose=0,
)
