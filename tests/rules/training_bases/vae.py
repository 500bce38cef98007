"""A variational autoencoder with a train step of its own."""

import keras
import numpy as np
import tensorflow as tf


class Vae(keras.Model):
    """Encoder, sampling and decoder."""

    def __init__(self):
        super().__init__()
        self.encoder = keras.layers.Dense(16, activation="relu")
        self.mean = keras.layers.Dense(2)
        self.spread = keras.layers.Dense(2)
        self.decoder = keras.layers.Dense(20)

    def call(self, inputs):
        """Return the mean of the code."""
        return self.decoder(self.mean(self.encoder(inputs)))

    def train_step(self, data):
        """Do one step on reconstruction and divergence."""
        with tf.GradientTape() as tape:
            hidden = self.encoder(data)
            mean, spread = self.mean(hidden), self.spread(hidden)
            code = mean + tf.exp(0.5 * spread) * tf.random.normal(tf.shape(mean))
            loss = tf.reduce_mean(tf.square(self.decoder(code) - data))
            loss += -0.05 * tf.reduce_mean(1 + spread - tf.square(mean) - tf.exp(spread))
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
        return {"loss": loss}


keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)
x = (rng.normal(size=(300, 2)) @ rng.normal(size=(2, 20))).astype("float32")
model = Vae()
model.compile(optimizer="adam")
model.fit(x, epochs=5, batch_size=16, verbose=0)
