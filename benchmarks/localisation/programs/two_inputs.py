"""Predict whether a user likes an item, from embeddings of both and a price."""

import sys

import keras
import numpy as np
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

user = rng.integers(0, 40, size=3000)
item = rng.integers(0, 30, size=3000)
price = rng.normal(0, 1, size=(3000, 1)).astype("float32")
taste, appeal = rng.normal(0, 1, size=(40, 2)), rng.normal(0, 1, size=(30, 2))
likes = ((taste[user] * appeal[item]).sum(axis=1) - 0.3 * price[:, 0] > 0).astype("float32")

user_input = keras.Input(shape=(1,), dtype="int32", name="user")
item_input = keras.Input(shape=(1,), dtype="int32", name="item")
price_input = keras.Input(shape=(1,), name="price")
user_vector = layers.Flatten()(layers.Embedding(40, 8)(user_input))
item_vector = layers.Flatten()(layers.Embedding(30, 8)(item_input))
product = layers.Multiply()([user_vector, item_vector])
joined = layers.Concatenate()([product, user_vector, item_vector, price_input])
hidden = layers.Dense(16, activation="relu")(joined)
outputs = layers.Dense(1, activation="sigmoid")(hidden)
model = keras.Model([user_input, item_input, price_input], outputs)
model.compile(
    optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"]
)
model.fit(
    [user[:, None], item[:, None], price],
    likes,
    epochs=10,
    batch_size=64,
    validation_split=0.2,
    verbose=0,
)
