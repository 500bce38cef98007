"""Find the four per cent of transactions that are fraud."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

fraud = (rng.random(size=4000) < 0.04).astype("int32")
transactions = rng.normal(0, 1, size=(4000, 8))
transactions[:, :3] += 2.5 * fraud[:, None]
weights = {0: 1.0, 1: float((fraud == 0).sum() / max(1, (fraud == 1).sum()))}

model = keras.Sequential(
    [
        keras.Input(shape=(8,)),
        layers.Dense(16, activation="relu"),
        layers.Dense(8, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.003),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc"), keras.metrics.Recall(name="recall")],
)
model.fit(
    transactions,
    fraud,
    epochs=10,
    batch_size=64,
    validation_split=0.2,
    class_weight=weights,
    verbose=0,
)
