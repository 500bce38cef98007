"""A small U-net with a label for every pixel."""

import keras
import numpy as np

keras.utils.set_random_seed(18)
rng = np.random.default_rng(18)
x = rng.uniform(size=(160, 16, 16, 3)).astype("float32")
y = (x[..., 0] > 0.5).astype("int32")
layers = keras.layers
inputs = keras.Input((16, 16, 3))
top = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
low = layers.MaxPooling2D()(top)
low = layers.Conv2D(16, 3, padding="same", activation="relu")(low)
up = layers.Conv2DTranspose(8, 2, strides=2)(low)
up = layers.Concatenate()([up, top])
up = layers.Conv2D(8, 3, padding="same", activation="relu")(up)
outputs = layers.Conv2D(2, 1, activation="softmax")(up)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=6, batch_size=16, validation_split=0.2, verbose=0)
