"""Small training programs, as text; each prints all that training left behind when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["HELPERS", "TRAININGS", "write_programs"]

HELPERS = {
    "rows": """\
import numpy as np


def rows(count=480, width=12, classes=3, seed=0):
    generator = np.random.RandomState(seed)
    x = generator.rand(count, width).astype("float32")
    y = (x.sum(axis=1) * classes / width).astype("int32") % classes
    return x, y
""",
    "ending": """\
import hashlib
import random

import keras
import numpy as np
import tensorflow as tf


def tell(model):
    weights = b"".join(np.ascontiguousarray(value).tobytes() for value in model.get_weights())
    compiled = getattr(model, "optimizer", None)
    state = [] if compiled is None else compiled.variables
    optimiser = b"".join(np.ascontiguousarray(item.numpy()).tobytes() for item in state)
    print("weights", hashlib.sha256(weights).hexdigest())
    print("optimiser", hashlib.sha256(optimiser).hexdigest())
    print("python", random.random(), "numpy", np.random.rand())
    print("keras", float(keras.random.uniform(())), "tensorflow", float(tf.random.uniform(())))
    print("names", keras.layers.Dense(1).name, keras.metrics.Mean().name)
""",
}
"""Modules that the programs import: their data, and what they print when they end."""

TRAININGS = {
    "arrays": """\
import keras
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()
model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dropout(0.4),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=4, batch_size=50, validation_split=0.2, verbose=0)
print(history.history)
print(model.evaluate(x, y, verbose=0), model.predict(x[:2], verbose=0).tolist())
tell(model)
""",
    "dataset": """\
import keras
import tensorflow as tf
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()
model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.GaussianNoise(0.1),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3),
    ]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss, metrics=["accuracy"])
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(480, reshuffle_each_iteration=True)
data = data.batch(50).map(lambda a, b: (a + tf.random.normal(tf.shape(a), stddev=0.01), b))
print(model.fit(data.prefetch(2), epochs=4, verbose=0).history)
tell(model)
""",
    "generator": """\
import keras
import numpy as np
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()


def batches():
    for _ in range(30):
        chosen = np.random.choice(len(x), np.random.randint(20, 40))
        yield x[chosen], y[chosen]


model = keras.Sequential(
    [keras.Input((12,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("rmsprop", loss, metrics=["accuracy"])
print(model.fit(batches(), epochs=1, verbose=0).history)
tell(model)
""",
    "batch_normalisation": """\
import keras
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows(width=64)
inputs = keras.Input((8, 8, 1))
values = keras.layers.Conv2D(6, 3, use_bias=False)(inputs)
values = keras.layers.BatchNormalization()(values)
values = keras.layers.Activation("relu")(values)
values = keras.layers.GlobalAveragePooling2D()(values)
values = keras.layers.Dropout(0.2)(values)
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(values))
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2, restore_best_weights=True)
history = model.fit(x.reshape(-1, 8, 8, 1), y, epochs=5, batch_size=60, callbacks=[stop], verbose=0)
print(history.history)
tell(model)
""",
    "py_dataset": """\
import keras
import numpy as np
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        part = slice(index * 40, index * 40 + 40)
        return x[part] + np.random.normal(0, 0.01, (40, 12)).astype("float32"), y[part]


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"], run_eagerly=True)
model.fit(Batches(), epochs=1, verbose=0, shuffle=False)
tell(model)
""",
    "batch_loop": """\
import keras
import numpy as np
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()
model = keras.Sequential(
    [keras.Input((12,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.3),
     keras.layers.Dense(3, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
for step in range(40):
    chosen = np.random.choice(len(x), 32)
    print(step, model.train_on_batch(x[chosen], y[chosen]))
print(model.train_on_batch(x[:32], y[:32], return_dict=True))
tell(model)
""",
    "own_step": """\
import keras
import tensorflow as tf
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(16, activation="relu")
        self.drop = keras.layers.Dropout(0.3)
        self.out = keras.layers.Dense(3)
        self.seen = keras.metrics.Mean(name="loss")

    def call(self, inputs, training=False):
        return self.out(self.drop(self.hidden(inputs), training=training))

    @property
    def metrics(self):
        return [self.seen]

    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=targets, y_pred=self(inputs, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.seen.update_state(loss)
        return {"loss": self.seen.result()}


model = Own()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(model.fit(x, y, epochs=3, batch_size=50, verbose=0).history)
tell(model)
""",
    "several_at_once": """\
import keras
import tensorflow as tf
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows(470)
model = keras.Sequential(
    [keras.Input((12,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.3),
     keras.layers.Dense(3, activation="softmax")]
)
model.compile(
    "adam", "sparse_categorical_crossentropy", metrics=["accuracy"], steps_per_execution=4
)
print(model.fit(x, y, epochs=3, batch_size=40, verbose=0).history)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(470).batch(40)
print(model.fit(data, epochs=2, verbose=0).history)
print(model.fit(data.repeat(), epochs=3, steps_per_epoch=8, verbose=0).history)
tell(model)
""",
    "two_outputs": """\
import keras
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()
inputs = keras.Input((12,), name="features")
hidden = keras.layers.LSTM(8, dropout=0.2)(keras.layers.Reshape((4, 3))(inputs))
kind = keras.layers.Dense(3, activation="softmax", name="kind")(hidden)
total = keras.layers.Dense(1, name="total")(hidden)
model = keras.Model(inputs, {"kind": kind, "total": total})
model.compile(
    keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.01, 10, 0.9)),
    {"kind": "sparse_categorical_crossentropy", "total": "mse"},
    metrics={"kind": ["accuracy"], "total": ["mae"]},
    loss_weights={"kind": 1.0, "total": 0.3},
)
targets = {"kind": y, "total": x.sum(axis=1)}
history = model.fit({"features": x}, targets, epochs=3, validation_split=0.1, verbose=0)
print(history.history)
model.get_layer("kind").trainable = False
model.compile("sgd", {"kind": "sparse_categorical_crossentropy", "total": "mae"})
print(model.fit({"features": x}, targets, epochs=1, class_weight=None, verbose=0).history)
tell(model)
""",
    "own_loop": """\
import keras
import tensorflow as tf
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()
model = keras.Sequential(
    [keras.Input((12,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.3),
     keras.layers.Dense(3)]
)
optimiser = keras.optimizers.Adam(0.01)
measure = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = measure(targets, model(inputs, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimiser.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for start in range(0, 480, 40):
    print(float(step(x[start : start + 40], y[start : start + 40])))
tell(model)
""",
    "with_recorder": """\
import sys

import keras
from ending import tell
from rows import rows

keras.utils.set_random_seed(7)
x, y = rows()
model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dropout(0.4),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
callbacks = []
if sys.argv[1:]:
    from envcheck.keras import Recorder

    callbacks.append(Recorder(sys.argv[1], data=(x, y, x[:50], y[:50]), embed=True))
history = model.fit(
    x, y, epochs=4, batch_size=50, validation_split=0.2, verbose=0, callbacks=callbacks
)
print(history.history)
print(model.evaluate(x, y, verbose=0), model.predict(x[:2], verbose=0).tolist())
tell(model)
model.save(sys.argv[2]) if sys.argv[2:] else None
""",
}
"""One program for each way to train."""


def write_programs(folder: Path) -> None:
    """Write all programs into a folder."""
    for name, text in (HELPERS | TRAININGS).items():
        (folder / f"{name}.py").write_text(text, "utf-8")
