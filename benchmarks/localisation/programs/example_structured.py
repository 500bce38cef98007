"""Structured data: categories, numbers of different scales, tf.data and preprocessing layers."""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

ROWS = 1500
people = {
    "age": rng.integers(25, 80, size=ROWS).astype("float32"),
    "pressure": rng.normal(130, 18, size=ROWS).astype("float32"),
    "cholesterol": rng.normal(246, 50, size=ROWS).astype("float32"),
    "thal": rng.choice(["normal", "fixed", "reversible"], size=ROWS),
    "sex": rng.integers(0, 2, size=ROWS),
}
risk = (people["age"] - 55) / 12 + (people["pressure"] - 130) / 18 + (people["thal"] == "fixed") * 2
target = (risk + rng.normal(0, 0.7, size=ROWS) > 0.7).astype("float32")


def dataframe_to_dataset(rows, shuffle=True):
    columns = {name: values[rows] for name, values in people.items()}
    ds = tf.data.Dataset.from_tensor_slices((columns, target[rows]))
    return ds.shuffle(buffer_size=1000, seed=SEED) if shuffle else ds


numbers = ("age", "pressure", "cholesterol")
normalizers = {}
for name in numbers:
    normalizers[name] = layers.Normalization(axis=None)
    normalizers[name].adapt(people[name][:1200])
lookup = layers.StringLookup(vocabulary=["normal", "fixed", "reversible"], num_oov_indices=1)
one_hot = layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")


def encode(columns, label):
    columns = dict(columns)
    columns["thal"] = one_hot(lookup(columns["thal"]))
    return columns, label


train_ds = dataframe_to_dataset(slice(0, 1200)).batch(32).map(encode).prefetch(1)
val_ds = dataframe_to_dataset(slice(1200, None), shuffle=False).batch(32).map(encode).prefetch(1)

inputs = {name: keras.Input(shape=(1,), name=name) for name in (*numbers, "sex")}
inputs["thal"] = keras.Input(shape=(4,), name="thal")
features = layers.concatenate(
    [*(normalizers[name](inputs[name]) for name in numbers), inputs["sex"], inputs["thal"]]
)
x = layers.Dense(32, activation="relu")(features)
x = layers.Dropout(0.3)(x)
output = layers.Dense(1, activation="sigmoid")(x)

training_model = keras.Model(inputs, output)
training_model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
training_model.fit(train_ds, epochs=15, verbose=0, validation_data=val_ds)
