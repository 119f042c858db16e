"""Parts of neural networks: ``tf.nn``."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.convolution import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    depth_to_space,
    depthwise_conv2d,
    local_response_normalization,
    lrn,
    max_pool,
    max_pool1d,
    max_pool2d,
    separable_conv2d,
    space_to_depth,
)
from tapemagic.tf.ops.elementwise import elu, relu, relu6, selu, sigmoid, softplus, softsign, tanh
from tapemagic.tf.ops.neural import (
    batch_normalization,
    bias_add,
    compute_average_loss,
    crelu,
    dropout,
    embedding_lookup,
    gelu,
    l2_loss,
    leaky_relu,
    log_poisson_loss,
    log_softmax,
    moments,
    scale_regularization_loss,
    sigmoid_cross_entropy_with_logits,
    silu,
    softmax,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    swish,
    weighted_cross_entropy_with_logits,
    weighted_moments,
)
from tapemagic.tf.ops.norms import l2_normalize
from tapemagic.tf.ops.reductions import zero_fraction
from tapemagic.tf.ops.selection import in_top_k, top_k

__all__ = [
    "avg_pool", "avg_pool1d", "avg_pool2d", "batch_normalization", "bias_add",
    "compute_average_loss", "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "crelu",
    "depth_to_space", "depthwise_conv2d", "dropout", "elu", "embedding_lookup", "gelu", "in_top_k",
    "l2_loss", "l2_normalize", "leaky_relu", "local_response_normalization", "log_poisson_loss",
    "log_softmax", "lrn", "max_pool", "max_pool1d", "max_pool2d", "moments", "relu", "relu6",
    "scale_regularization_loss", "selu", "separable_conv2d", "sigmoid",
    "sigmoid_cross_entropy_with_logits", "silu", "softmax", "softmax_cross_entropy_with_logits",
    "softplus", "softsign", "space_to_depth", "sparse_softmax_cross_entropy_with_logits", "swish",
    "tanh", "top_k", "weighted_cross_entropy_with_logits", "weighted_moments", "zero_fraction",
]  # fmt: skip

__getattr__ = missing(__name__, __all__)
