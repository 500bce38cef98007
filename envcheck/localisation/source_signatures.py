"""Names of the positional parameters of what Keras programs call most, without Keras.

Follows the signatures of Keras 3. Where the object itself is at hand its own signature is the
better source, and callers pass that.
"""

from __future__ import annotations

__all__ = ["positional_parameters"]

_CONVOLUTION = (
    "filters kernel_size strides padding data_format dilation_rate groups activation use_bias "
    "kernel_initializer bias_initializer"
)
_POOLING = "pool_size strides padding data_format name"
_RECURRENT = "units activation"
_COMMON = "learning_rate"
_REGRESSION_LOSS = "reduction name dtype"
_PROBABILISTIC = "from_logits label_smoothing axis reduction name dtype"

_SIGNATURES = {
    "compile": "optimizer loss loss_weights metrics weighted_metrics run_eagerly "
    "steps_per_execution jit_compile auto_scale_loss",
    "fit": "x y batch_size epochs verbose callbacks validation_split validation_data shuffle "
    "class_weight sample_weight initial_epoch steps_per_epoch validation_steps "
    "validation_batch_size validation_freq",
    "train_on_batch": "x y sample_weight class_weight return_dict",
    "evaluate": "x y batch_size verbose sample_weight steps callbacks return_dict",
    "train_test_split": "",
    "Dense": "units activation use_bias kernel_initializer bias_initializer kernel_regularizer "
    "bias_regularizer activity_regularizer kernel_constraint bias_constraint",
    "Activation": "activation",
    "Embedding": "input_dim output_dim embeddings_initializer embeddings_regularizer "
    "embeddings_constraint mask_zero weights",
    "Masking": "mask_value",
    "Conv1D": _CONVOLUTION,
    "Conv2D": _CONVOLUTION,
    "Conv3D": _CONVOLUTION,
    "Conv1DTranspose": "filters kernel_size strides padding output_padding data_format "
    "dilation_rate activation use_bias",
    "Conv2DTranspose": "filters kernel_size strides padding output_padding data_format "
    "dilation_rate activation use_bias",
    "DepthwiseConv2D": "kernel_size strides padding depth_multiplier data_format dilation_rate "
    "activation use_bias",
    "SeparableConv1D": "filters kernel_size strides padding data_format dilation_rate "
    "depth_multiplier activation use_bias",
    "SeparableConv2D": "filters kernel_size strides padding data_format dilation_rate "
    "depth_multiplier activation use_bias",
    "MaxPooling1D": _POOLING,
    "MaxPooling2D": _POOLING,
    "MaxPool2D": _POOLING,
    "AveragePooling1D": _POOLING,
    "AveragePooling2D": _POOLING,
    "LSTM": f"{_RECURRENT} recurrent_activation use_bias kernel_initializer",
    "GRU": f"{_RECURRENT} recurrent_activation use_bias kernel_initializer",
    "SimpleRNN": f"{_RECURRENT} use_bias kernel_initializer recurrent_initializer",
    "Bidirectional": "layer merge_mode weights backward_layer",
    "TimeDistributed": "layer",
    "Dropout": "rate noise_shape seed",
    "SpatialDropout1D": "rate seed name dtype",
    "SpatialDropout2D": "rate data_format seed name dtype",
    "GaussianDropout": "rate seed",
    "AlphaDropout": "rate noise_shape seed",
    "GaussianNoise": "stddev seed",
    "BatchNormalization": "axis momentum epsilon center scale",
    "LayerNormalization": "axis epsilon center scale",
    "Reshape": "target_shape",
    "Flatten": "data_format",
    "Lambda": "function output_shape mask arguments",
    "Rescaling": "scale offset",
    "LeakyReLU": "negative_slope",
    "ELU": "alpha",
    "PReLU": "alpha_initializer alpha_regularizer alpha_constraint shared_axes",
    "ReLU": "max_value negative_slope threshold",
    "Softmax": "axis",
    "MultiHeadAttention": "num_heads key_dim value_dim dropout use_bias",
    "SGD": f"{_COMMON} momentum nesterov weight_decay clipnorm clipvalue global_clipnorm",
    "Adam": f"{_COMMON} beta_1 beta_2 epsilon amsgrad weight_decay clipnorm clipvalue",
    "AdamW": f"{_COMMON} weight_decay beta_1 beta_2 epsilon amsgrad clipnorm clipvalue",
    "Adamax": f"{_COMMON} beta_1 beta_2 epsilon weight_decay clipnorm clipvalue",
    "Nadam": f"{_COMMON} beta_1 beta_2 epsilon weight_decay clipnorm clipvalue",
    "RMSprop": f"{_COMMON} rho momentum epsilon centered weight_decay clipnorm clipvalue",
    "Adagrad": f"{_COMMON} initial_accumulator_value epsilon weight_decay clipnorm",
    "Adadelta": f"{_COMMON} rho epsilon weight_decay clipnorm clipvalue",
    "Ftrl": f"{_COMMON} learning_rate_power initial_accumulator_value",
    "Lion": f"{_COMMON} beta_1 beta_2 weight_decay clipnorm clipvalue",
    "BinaryCrossentropy": _PROBABILISTIC,
    "CategoricalCrossentropy": _PROBABILISTIC,
    "SparseCategoricalCrossentropy": "from_logits ignore_class reduction axis name dtype",
    "MeanSquaredError": _REGRESSION_LOSS,
    "MeanAbsoluteError": _REGRESSION_LOSS,
    "Huber": "delta reduction name dtype",
    "ExponentialDecay": "initial_learning_rate decay_steps decay_rate staircase name",
    "CosineDecay": "initial_learning_rate decay_steps alpha name",
    "RandomNormal": "mean stddev seed",
    "TruncatedNormal": "mean stddev seed",
    "RandomUniform": "minval maxval seed",
    "Constant": "value",
    "EarlyStopping": "monitor min_delta patience verbose mode",
}


def positional_parameters(callee: str | None) -> tuple[str, ...]:
    """Return the parameters that a class or method of Keras takes by position, self apart."""
    return tuple(_SIGNATURES.get(callee or "", "").split())
