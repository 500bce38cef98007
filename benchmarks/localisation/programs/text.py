"""Judge short reviews, as token ids, with an embedding and average pooling."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
VOCABULARY = 400
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

opinion = rng.integers(0, 2, size=1500)
tokens = rng.integers(100, VOCABULARY, size=(1500, 20))
telling = rng.random(size=tokens.shape) < 0.25
tokens = np.where(telling, rng.integers(1, 50, size=tokens.shape) + 50 * opinion[:, None], tokens)
lengths = rng.integers(8, 21, size=1500)
tokens[np.arange(20) >= lengths[:, None]] = 0

model = keras.Sequential(
    [
        keras.Input(shape=(20,), dtype="int32"),
        layers.Embedding(VOCABULARY, 16, mask_zero=True),
        layers.GlobalAveragePooling1D(),
        layers.Dense(16, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(tokens, opinion, batch_size=32, epochs=10, validation_split=0.25, verbose=0)
