"""A residual network on images from 0 to 255 that begins with Rescaling and starts at identity."""

import keras
import numpy as np

keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
y = rng.integers(0, 2, 240)
x = rng.integers(0, 256, size=(240, 10, 10, 1))
x[y == 1, 2:5] = 255
layers = keras.layers
inputs = keras.Input((10, 10, 1))
tensor = layers.Rescaling(1 / 255)(inputs)
tensor = layers.Conv2D(8, 3, padding="same", activation="relu")(tensor)
branch = layers.Conv2D(8, 3, padding="same", activation="relu")(tensor)
branch = layers.Conv2D(8, 3, padding="same", kernel_initializer="zeros")(branch)
tensor = layers.Activation("relu")(layers.Add()([tensor, branch]))
wide = layers.Conv2D(24, 1)(tensor)
wide = layers.DepthwiseConv2D(3, padding="same", activation="relu")(wide)
tensor = layers.Add()([tensor, layers.Conv2D(8, 1)(wide)])
tensor = layers.GlobalAveragePooling2D()(tensor)
outputs = layers.Dense(1, activation="sigmoid")(tensor)
model = keras.Model(inputs, outputs)
schedule = keras.optimizers.schedules.CosineDecay(0.0, 400, warmup_target=0.02, warmup_steps=20)
model.compile(
    optimizer=keras.optimizers.Adam(schedule), loss="binary_crossentropy", metrics=["accuracy"]
)
model.fit(x, y, epochs=10, batch_size=16, validation_split=0.25, verbose=0)
