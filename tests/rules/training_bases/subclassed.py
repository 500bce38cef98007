"""A model whose layers are put together inside its call method."""

import keras
import numpy as np


class Net(keras.Model):
    """Two layers; the activation is applied between them."""

    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(24)
        self.second = keras.layers.Dense(3)

    def call(self, inputs):
        """Return logits."""
        return self.second(keras.ops.relu(self.first(inputs)))


keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
x = rng.normal(size=(300, 6)).astype("float32")
y = np.argmax(x[:, :3], axis=1)
model = Net()
model.compile(
    optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)  # fmt: skip
model.fit(x, y, epochs=10, batch_size=16, validation_split=0.2, verbose=0)
