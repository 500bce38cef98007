"""Keras models of many kinds, small enough to convert in seconds, with random weights.

Untrained models hide faults: zero biases and unit statistics make layers vanish. So every
weight is drawn anew, from a seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LARGE", "PEERS", "SMALL", "build", "randomise"]

SMALL: dict[str, Callable[[], Any]] = {}
"""Own builds by name."""
LARGE: dict[str, Callable[[], Any]] = {}
"""Models of `keras.applications` by name, with small images."""
PEERS: dict[str, Callable[[], Any]] = {}
"""Models of common sizes, on which tools are compared."""


def _small(function: Callable[[], Any]) -> Callable[[], Any]:
    SMALL[function.__name__] = function
    return function


def build(name: str, seed: int = 0) -> Any:
    """Return a model by name, with random weights and fresh layer names."""
    import keras

    keras.backend.clear_session()
    model = {**SMALL, **LARGE, **PEERS}[name]()
    return randomise(model, seed)


def randomise(model: Any, seed: int = 0) -> Any:
    """Draw every weight anew, at scales that keep activations near one."""
    import numpy as np

    generator = np.random.default_rng(seed)
    for weight in model.weights:
        if not str(weight.dtype).startswith("float"):
            continue
        name, shape = weight.path.rpartition("/")[2], tuple(weight.shape)
        drawn = generator.standard_normal(shape)
        if "variance" in name or "gamma" in name:
            drawn = generator.uniform(0.5, 1.5, shape)
        elif "kernel" in name or "embeddings" in name:
            drawn = drawn * 1.2 / np.sqrt(max(1.0, float(np.prod(shape[:-1]))))
        else:
            drawn = drawn * 0.1
        weight.assign(drawn.astype("float32"))
    return model


@_small
def mlp() -> Any:
    """Dense layers with batch normalisation."""
    from keras import Input, Sequential
    from keras import layers as L  # noqa: N812

    return Sequential([
        Input((16,)), L.Dense(32, activation="relu"), L.Dropout(0.2), L.BatchNormalization(),
        L.Dense(24), L.LeakyReLU(), L.Dense(5, activation="softmax"),
    ])  # fmt: skip


@_small
def cnn() -> Any:
    """Return a convolutional classifier with strides, pooling and Flatten."""
    from keras import Input, Sequential
    from keras import layers as L  # noqa: N812

    return Sequential([
        Input((20, 16, 3)), L.Conv2D(8, 3, padding="same", use_bias=False), L.BatchNormalization(),
        L.ReLU(), L.MaxPooling2D(), L.Conv2D(12, 3, strides=2, padding="same"), L.ReLU(),
        L.AveragePooling2D(2, padding="same"), L.Flatten(), L.Dense(10), L.Softmax(),
    ])  # fmt: skip


@_small
def residual() -> Any:
    """Residual blocks with folded and unfolded batch normalisation."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((16, 12, 3))
    x = L.Conv2D(8, 3, padding="same")(inputs)
    x = L.ReLU()(L.BatchNormalization()(x))
    for _ in range(2):
        y = L.Conv2D(8, 3, padding="same", use_bias=False)(x)
        y = L.LeakyReLU()(L.BatchNormalization()(y))
        y = L.Conv2D(8, 1)(L.DepthwiseConv2D(3, padding="same")(y))
        x = L.ReLU()(L.Add()([x, y]))
    return Model(inputs, L.Dense(7)(L.GlobalAveragePooling2D()(x)))


@_small
def transformer() -> Any:
    """Two blocks of attention over an embedding."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((10,), dtype="int32")
    x = L.Embedding(50, 16)(inputs)
    for _ in range(2):
        y = L.LayerNormalization()(x)
        x = L.Add()([x, L.MultiHeadAttention(2, 8)(y, y)])
        y = L.Dense(32, activation="silu")(L.LayerNormalization()(x))
        x = L.Add()([x, L.Dense(16)(y)])
    return Model(inputs, L.Dense(4, activation="softmax")(L.GlobalAveragePooling1D()(x)))


@_small
def lstm() -> Any:
    """LSTM layers, one of them in both directions."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((9, 6))
    x = L.LSTM(8, return_sequences=True)(inputs)
    x = L.Bidirectional(L.LSTM(5, return_sequences=True))(x)
    return Model(inputs, L.Dense(3)(L.LSTM(4)(x)))


@_small
def gru() -> Any:
    """GRU in both directions, TimeDistributed and a simple RNN."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((7, 5))
    x = L.GRU(6, return_sequences=True)(inputs)
    x = L.Bidirectional(L.GRU(4, return_sequences=True))(x)
    x = L.TimeDistributed(L.Dense(5, activation="tanh"))(x)
    return Model(inputs, L.Dense(3)(L.SimpleRNN(4)(x)))


@_small
def masked() -> Any:
    """Return a masked embedding and LSTM layers."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((8,), dtype="int32")
    x = L.Embedding(20, 6, mask_zero=True)(inputs)
    x = L.LSTM(4)(L.LSTM(5, return_sequences=True)(x))
    return Model(inputs, L.Dense(2, activation="softmax")(x))


@_small
def unet() -> Any:
    """Return an encoder and decoder with skip connections."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((16, 12, 3))
    skip = L.Conv2D(8, 3, padding="same", activation="relu")(inputs)
    pooled = L.MaxPooling2D()(skip)
    x = L.GroupNormalization(4)(L.SeparableConv2D(12, 3, padding="same")(pooled))
    x = L.Conv2D(12, 3)(L.ZeroPadding2D(1)(L.PReLU(shared_axes=[1, 2])(x)))
    x = L.Conv2DTranspose(8, 2, strides=2, padding="same")(x)
    x = L.Conv2D(6, 3, padding="same")(L.Concatenate()([x, skip]))
    x = L.Concatenate()([x, L.UpSampling2D()(pooled)])
    return Model(inputs, L.Conv2D(2, 1, activation="sigmoid")(x))


@_small
def siamese() -> Any:
    """Return a shared tower, a nested model, inputs in a dict and two outputs."""
    from keras import Input, Model, Sequential
    from keras import layers as L  # noqa: N812

    left, right = Input((12,), name="left"), Input((12,), name="right")
    tower = L.Dense(10, activation="tanh", name="tower")
    head = Sequential([Input((10,)), L.Dense(9, activation="relu"), L.Dense(6)], name="head")
    u, v = head(tower(left)), head(tower(right))
    product = L.Multiply()([u, v])
    joined = L.Concatenate()([product, L.Subtract()([u, v]), L.Maximum()([u, v])])
    outputs = [L.Dense(3)(joined), L.Dense(2, activation="sigmoid")(product)]
    return Model({"left": left, "right": right}, outputs)


@_small
def convolutions_1d() -> Any:
    """Causal convolutions over time, Permute and normalisation."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((10, 4))
    x = L.Permute((2, 1))(L.Conv1D(8, 3, padding="causal", activation="relu")(inputs))
    x = L.MaxPooling1D()(L.Conv1D(6, 3, padding="same")(x))
    return Model(inputs, L.Dense(3)(L.UnitNormalization()(L.Flatten()(x))))


@_small
def autoencoder() -> Any:
    """Dense encoder and decoder, written with operators on tensors."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((20,))
    code = L.Dense(6, activation="elu")(L.Dense(12, activation="selu")(inputs))
    x = L.Dense(20, activation="tanh")(L.Dense(12, activation="softplus")(code))
    return Model(inputs, [x * 0.5 + inputs * 0.5, code])


@_small
def volumes() -> Any:
    """Three-dimensional convolutions."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((8, 7, 6, 2))
    x = L.MaxPooling3D()(L.Conv3D(4, 3, padding="same", activation="relu")(inputs))
    return Model(inputs, L.Dense(3)(L.GlobalAveragePooling3D()(L.Conv3D(5, 2)(x))))


@_small
def preprocessing() -> Any:
    """Rescaling, resizing, normalisation and augmentation before a convolution."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((20, 24, 3))
    x = L.Resizing(16, 12)(L.Rescaling(1 / 255)(inputs))
    x = L.Normalization(mean=[0.4, 0.5, 0.6], variance=[0.05, 0.06, 0.07])(L.RandomFlip()(x))
    x = L.Conv2D(6, 3, activation="relu")(L.CenterCrop(12, 10)(x))
    return Model(inputs, L.Dense(4)(L.GlobalMaxPooling2D()(x)))


@_small
def squeeze_excite() -> Any:
    """Channel attention, hard activations and dilated convolutions."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((14, 10, 4))
    x = L.Conv2D(8, 3, dilation_rate=2, padding="same", activation="hard_swish")(inputs)
    s = L.Dense(3, activation="relu")(L.GlobalAveragePooling2D(keepdims=True)(x))
    x = L.Multiply()([x, L.Dense(8, activation="hard_sigmoid")(s)])
    x = L.Conv2D(8, 3, activation="relu6")(L.LayerNormalization(axis=-1)(x))
    return Model(inputs, L.Dense(3, activation="softmax")(L.Flatten()(x)))


@_small
def recommender() -> Any:
    """Two embeddings, a dot product and wide features."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    user, item = Input((1,), dtype="int32"), Input((1,), dtype="int32")
    wide = Input((5,))
    u = L.Flatten()(L.Embedding(30, 8)(user))
    v = L.Flatten()(L.Embedding(40, 8)(item))
    joined = L.Concatenate()([L.Dot(axes=1)([u, v]), L.Dense(4, activation="relu")(wide)])
    return Model([user, item, wide], L.Dense(1, activation="sigmoid")(joined))


def _application(name: str, **options: Any) -> None:
    def make() -> Any:
        import keras

        shape = options.pop("shape", (64, 48, 3)) if "shape" in options else (64, 48, 3)
        maker = getattr(keras.applications, name)
        return maker(input_shape=shape, weights=None, classes=7, **options)

    LARGE[name] = make


_application("MobileNetV2", alpha=0.35)
_application("MobileNet", alpha=0.25)
_application("MobileNetV3Small")
_application("EfficientNetB0")
_application("DenseNet121")
_application("ResNet50")
_application("Xception", shape=(96, 80, 3))
_application("InceptionV3", shape=(96, 80, 3))
_application("NASNetMobile")


def _peer(function: Callable[[], Any]) -> Callable[[], Any]:
    PEERS[function.__name__] = function
    return function


@_peer
def resnet50() -> Any:
    """ResNet50 for images of 224 pixels."""
    import keras

    return keras.applications.ResNet50(weights=None)


@_peer
def encoder() -> Any:
    """Four blocks of attention over 512 tokens, 256 wide."""
    from keras import Input, Model
    from keras import layers as L  # noqa: N812

    inputs = Input((512,), dtype="int32")
    x = L.Embedding(1000, 256)(inputs)
    for _ in range(4):
        x = L.LayerNormalization()(L.Add()([x, L.MultiHeadAttention(8, 32)(x, x)]))
        y = L.Dense(256)(L.Dense(1024, activation="silu")(x))
        x = L.LayerNormalization()(L.Add()([x, y]))
    return Model(inputs, L.Dense(10)(L.GlobalAveragePooling1D()(x)))
