"""One fit of a small network on made-up data; prints what the fit alone took, in seconds.

python recorded_fit.py mlp 40
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def mlp() -> tuple[Any, Any, Any]:
    """Return a network of dense layers with its data."""
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((32,)),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(64, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, *data(6400, (32,))


def cnn() -> tuple[Any, Any, Any]:
    """Return a network of convolutions with its data."""
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((20, 20, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, *data(1600, (20, 20, 1))


def lstm() -> tuple[Any, Any, Any]:
    """Return a recurrent network with its data."""
    import keras

    model = keras.Sequential(
        [keras.Input((24, 8)), keras.layers.LSTM(48), keras.layers.Dense(10, activation="softmax")]
    )
    return model, *data(1600, (24, 8))


def data(rows: int, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return rows of one class each: a centre of its class, and noise."""
    import numpy as np

    generator = np.random.default_rng(0)
    classes = generator.integers(0, 10, rows)
    centres = generator.normal(size=(10, *shape))
    x = centres[classes] + generator.normal(size=(rows, *shape))
    return x.astype("float32"), classes


def main() -> None:
    """Fit one network for the epochs of the command line."""
    import keras

    kind, epochs = sys.argv[1], int(sys.argv[2])
    keras.utils.set_random_seed(0)
    model, x, y = {"mlp": mlp, "cnn": cnn, "lstm": lstm}[kind]()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(x, y, epochs=epochs, validation_split=0.1, verbose=0)
    taken = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
