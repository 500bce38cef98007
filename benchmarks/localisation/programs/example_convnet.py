"""Simple convnet for digits, in the manner of the well-known example; the digits are drawn here."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

# Prepare the data: seven-segment digits, shifted, of varying brightness, with noise.
SEGMENTS = ("012456", "25", "02346", "02356", "1235", "01356", "013456", "025", "0123456", "012356")
BOXES = {
    "0": (slice(2, 4), slice(6, 18)),
    "1": (slice(2, 14), slice(4, 6)),
    "2": (slice(2, 14), slice(18, 20)),
    "3": (slice(13, 15), slice(6, 18)),
    "4": (slice(14, 25), slice(4, 6)),
    "5": (slice(14, 25), slice(18, 20)),
    "6": (slice(24, 26), slice(6, 18)),
}


def draw(digit):
    image = np.zeros((28, 28))
    for segment in SEGMENTS[digit]:
        image[BOXES[segment]] = rng.integers(150, 256)
    image = np.roll(image, tuple(rng.integers(-2, 3, size=2)), axis=(0, 1))
    return image + rng.normal(0, 25, size=image.shape)


num_classes = 10
input_shape = (28, 28, 1)

digits = rng.integers(0, num_classes, size=1600)
pictures = np.stack([draw(digit) for digit in digits]).clip(0, 255)
x_train, x_test = pictures[:1300], pictures[1300:]
y_train, y_test = digits[:1300], digits[1300:]

# Scale images to the [0, 1] range
x_train = x_train.astype("float32") / 255
x_test = x_test.astype("float32") / 255
# Make sure images have shape (28, 28, 1)
x_train = np.expand_dims(x_train, -1)
x_test = np.expand_dims(x_test, -1)
print("x_train shape:", x_train.shape)
print(x_train.shape[0], "train samples")
print(x_test.shape[0], "test samples")

# Convert class vectors to binary class matrices
y_train = keras.utils.to_categorical(y_train, num_classes)
y_test = keras.utils.to_categorical(y_test, num_classes)

model = keras.Sequential(
    [
        keras.Input(shape=input_shape),
        layers.Conv2D(16, kernel_size=(3, 3), activation="relu"),
        layers.MaxPooling2D(pool_size=(2, 2)),
        layers.Conv2D(32, kernel_size=(3, 3), activation="relu"),
        layers.MaxPooling2D(pool_size=(2, 2)),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(num_classes, activation="softmax"),
    ]
)

batch_size = 64
epochs = 6

model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=batch_size, epochs=epochs, validation_split=0.1, verbose=0)

score = model.evaluate(x_test, y_test, verbose=0)
print("Test accuracy above one half:", score[1] > 0.5)
