"""Text classification with a transformer block of our own, as tutorials write it."""

import sys

import keras
import numpy as np
from keras import layers, ops

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.ffn = keras.Sequential(
            [layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)]
        )
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = layers.Dropout(rate)
        self.dropout2 = layers.Dropout(rate)

    def call(self, inputs, training=False):
        attended = self.dropout1(self.att(inputs, inputs), training=training)
        first = self.layernorm1(inputs + attended)
        second = self.dropout2(self.ffn(first), training=training)
        return self.layernorm2(first + second)


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        positions = ops.arange(start=0, stop=ops.shape(x)[-1], step=1)
        return self.token_emb(x) + self.pos_emb(positions)


vocab_size = 300  # the most frequent words
maxlen = 24  # words of each text
opinion = rng.integers(0, 2, size=1600)
texts = rng.integers(60, vocab_size, size=(1600, maxlen))
telling = rng.random(size=texts.shape) < 0.3
texts = np.where(telling, rng.integers(0, 30, size=texts.shape) + 30 * opinion[:, None], texts)
x_train, x_val, y_train, y_val = texts[:1300], texts[1300:], opinion[:1300], opinion[1300:]

embed_dim = 16
num_heads = 2
ff_dim = 16

inputs = layers.Input(shape=(maxlen,))
x = TokenAndPositionEmbedding(maxlen, vocab_size, embed_dim)(inputs)
x = TransformerBlock(embed_dim, num_heads, ff_dim)(x)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dropout(0.1)(x)
x = layers.Dense(20, activation="relu")(x)
x = layers.Dropout(0.1)(x)
outputs = layers.Dense(2, activation="softmax")(x)
model = keras.Model(inputs=inputs, outputs=outputs)

model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(
    x_train, y_train, batch_size=32, epochs=4, validation_data=(x_val, y_val), verbose=0
)
