"""A convolutional network on drawn bars, pixels from 0 to 1."""

import keras
import numpy as np

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
y = rng.integers(0, 3, 480)
x = rng.uniform(0, 0.3, size=(480, 12, 12, 1))
for image, label in zip(x, y, strict=True):
    at = rng.integers(2, 10)
    if label == 0:
        image[at, :, 0] += 0.7
    elif label == 1:
        image[:, at, 0] += 0.7
    else:
        image[range(12), range(12), 0] += 0.7
x = x.astype("float32")

model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.25),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=6, batch_size=32, validation_split=0.25, verbose=0)
