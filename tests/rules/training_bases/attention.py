"""Self-attention over a sequence, with softmax weights that are multiplied with values."""

import keras
import numpy as np

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
x = rng.normal(size=(900, 8, 6)).astype("float32")
y = (x[:, :, 0].max(axis=1) > 1.3).astype("int32")
layers = keras.layers
inputs = keras.Input((8, 6))
hidden = layers.Dense(16)(inputs)
mixed = layers.MultiHeadAttention(2, 8)(hidden, hidden)
hidden = layers.LayerNormalization()(layers.Add()([hidden, mixed]))
inner = layers.Dense(32, activation="gelu")(hidden)
hidden = layers.Add()([hidden, layers.Dense(16)(inner)])
scores = layers.Softmax(axis=1)(layers.Dense(1)(hidden))
pooled = layers.Flatten()(layers.Dot(axes=1)([scores, hidden]))
outputs = layers.Dense(2, activation="softmax")(pooled)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.AdamW(0.003), loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)  # fmt: skip
model.fit(x, y, epochs=8, batch_size=16, validation_split=0.2, verbose=0)
