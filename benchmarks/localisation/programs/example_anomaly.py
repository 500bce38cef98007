"""Timeseries anomaly detection: a convolutional autoencoder reconstructs normal days."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TIME_STEPS = 32
clock = np.arange(1600)
values = 20 + 8 * np.sin(clock / 5) + 3 * np.sin(clock / 17) + rng.normal(0, 0.3, size=len(clock))

# Normalize and save the mean and std, to normalize test data with them.
training_mean = values.mean()
training_std = values.std()
training_value = (values - training_mean) / training_std


def create_sequences(values, time_steps=TIME_STEPS):
    return np.stack([values[i : i + time_steps] for i in range(len(values) - time_steps + 1)])


x_train = create_sequences(training_value)[..., None]

model = keras.Sequential(
    [
        layers.Input(shape=(x_train.shape[1], x_train.shape[2])),
        layers.Conv1D(filters=16, kernel_size=7, padding="same", strides=2, activation="relu"),
        layers.Dropout(rate=0.2),
        layers.Conv1D(filters=8, kernel_size=7, padding="same", strides=2, activation="relu"),
        layers.Conv1DTranspose(
            filters=8, kernel_size=7, padding="same", strides=2, activation="relu"
        ),
        layers.Dropout(rate=0.2),
        layers.Conv1DTranspose(
            filters=16, kernel_size=7, padding="same", strides=2, activation="relu"
        ),
        layers.Conv1DTranspose(filters=1, kernel_size=7, padding="same"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.001), loss="mse")
history = model.fit(
    x_train,
    x_train,
    epochs=8,
    batch_size=64,
    validation_split=0.1,
    callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=5, mode="min")],
    verbose=0,
)
