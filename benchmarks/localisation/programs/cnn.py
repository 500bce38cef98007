"""Recognise drawn shapes on 12 by 12 images with a small convolutional network."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def draw(kind):
    image = np.zeros((12, 12))
    row, column = rng.integers(2, 6, size=2)
    size = rng.integers(4, 6)
    if kind == 0:
        image[row : row + size, column : column + size] = 255
    elif kind == 1:
        image[row, column : column + size] = 255
    elif kind == 2:
        image[row : row + size, column] = 255
    else:
        for step in range(size):
            image[row + step, column + step] = 255
    return image + rng.normal(0, 20, size=image.shape)


kinds = rng.integers(0, 4, size=1000)
images = np.stack([draw(kind) for kind in kinds])[..., None].clip(0, 255)
images = images / 255.0
targets = keras.utils.to_categorical(kinds, 4)
train, test = slice(0, 800), slice(800, None)

model = keras.Sequential(
    [
        keras.Input(shape=(12, 12, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(
    loss="categorical_crossentropy",
    optimizer=keras.optimizers.Adam(learning_rate=0.005),
    metrics=["accuracy"],
)
model.fit(
    images[train],
    targets[train],
    batch_size=32,
    epochs=8,
    validation_data=(images[test], targets[test]),
    verbose=0,
)
