"""Image similarity: a siamese network with a contrastive loss of our own."""

import sys

import keras
import numpy as np
from keras import layers, ops

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

prototypes = rng.normal(0, 1, size=(6, 16))
kinds = rng.integers(0, 6, size=1200)
vectors = (prototypes[kinds] + rng.normal(0, 0.4, size=(1200, 16))).astype("float32")


def make_pairs(x, y):
    left, right, labels = [], [], []
    for index in range(len(x)):
        same = rng.choice(np.flatnonzero(y == y[index]))
        other = rng.choice(np.flatnonzero(y != y[index]))
        left += [x[index], x[index]]
        right += [x[same], x[other]]
        labels += [0, 1]
    return np.array(left), np.array(right), np.array(labels).astype("float32")


left, right, labels = make_pairs(vectors, kinds)


def euclidean_distance(vects):
    x, y = vects
    sum_square = ops.sum(ops.square(x - y), axis=1, keepdims=True)
    return ops.sqrt(ops.maximum(sum_square, keras.backend.epsilon()))


def contrastive(margin=1):
    def contrastive_loss(y_true, y_pred):
        square_pred = ops.square(y_pred)
        margin_square = ops.square(ops.maximum(margin - y_pred, 0))
        return ops.mean((1 - y_true) * square_pred + y_true * margin_square)

    return contrastive_loss


inputs = keras.Input((16,))
x = layers.BatchNormalization()(inputs)
x = layers.Dense(24, activation="tanh")(x)
x = layers.Dense(10, activation="tanh")(x)
embedding_network = keras.Model(inputs, x)

input_1 = keras.Input((16,))
input_2 = keras.Input((16,))
merge_layer = layers.Lambda(euclidean_distance, output_shape=(1,))(
    [embedding_network(input_1), embedding_network(input_2)]
)
normal_layer = layers.BatchNormalization()(merge_layer)
output_layer = layers.Dense(1, activation="sigmoid")(normal_layer)
siamese = keras.Model(inputs=[input_1, input_2], outputs=output_layer)

siamese.compile(loss=contrastive(margin=1), optimizer="RMSprop", metrics=["accuracy"])
siamese.fit([left, right], labels, batch_size=32, epochs=6, validation_split=0.2, verbose=0)
