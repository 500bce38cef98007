"""A residual network as a subclass, with a train step of its own."""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


class Residual(keras.Model):
    def __init__(self, width, classes):
        super().__init__()
        self.enter = layers.Dense(width, activation="relu")
        self.middle = layers.Dense(width, activation="relu")
        self.leave = layers.Dense(classes)

    def call(self, inputs):
        hidden = self.enter(inputs)
        return self.leave(hidden + self.middle(hidden))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        return {"loss": loss}


kind = rng.integers(0, 5, size=1500)
centres = rng.normal(0, 1.5, size=(5, 8))
points = (centres[kind] + rng.normal(0, 0.8, size=(1500, 8))).astype("float32")

model = Residual(24, 5)
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(points, kind, epochs=12, batch_size=32, verbose=0)
