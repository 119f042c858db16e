"""Parts of neural networks: ``tf.nn``."""

from tapemagic.tf.elementwise import elu as elu
from tapemagic.tf.elementwise import relu as relu
from tapemagic.tf.elementwise import relu6 as relu6
from tapemagic.tf.elementwise import selu as selu
from tapemagic.tf.elementwise import sigmoid as sigmoid
from tapemagic.tf.elementwise import softplus as softplus
from tapemagic.tf.elementwise import softsign as softsign
from tapemagic.tf.elementwise import tanh as tanh
from tapemagic.tf.linear_algebra import l2_normalize as l2_normalize
from tapemagic.tf.neural import avg_pool as avg_pool
from tapemagic.tf.neural import avg_pool1d as avg_pool1d
from tapemagic.tf.neural import avg_pool2d as avg_pool2d
from tapemagic.tf.neural import batch_normalization as batch_normalization
from tapemagic.tf.neural import bias_add as bias_add
from tapemagic.tf.neural import compute_average_loss as compute_average_loss
from tapemagic.tf.neural import conv1d as conv1d
from tapemagic.tf.neural import conv1d_transpose as conv1d_transpose
from tapemagic.tf.neural import conv2d as conv2d
from tapemagic.tf.neural import conv2d_transpose as conv2d_transpose
from tapemagic.tf.neural import crelu as crelu
from tapemagic.tf.neural import depth_to_space as depth_to_space
from tapemagic.tf.neural import depthwise_conv2d as depthwise_conv2d
from tapemagic.tf.neural import dropout as dropout
from tapemagic.tf.neural import embedding_lookup as embedding_lookup
from tapemagic.tf.neural import gelu as gelu
from tapemagic.tf.neural import l2_loss as l2_loss
from tapemagic.tf.neural import leaky_relu as leaky_relu
from tapemagic.tf.neural import local_response_normalization as local_response_normalization
from tapemagic.tf.neural import log_poisson_loss as log_poisson_loss
from tapemagic.tf.neural import log_softmax as log_softmax
from tapemagic.tf.neural import lrn as lrn
from tapemagic.tf.neural import max_pool as max_pool
from tapemagic.tf.neural import max_pool1d as max_pool1d
from tapemagic.tf.neural import max_pool2d as max_pool2d
from tapemagic.tf.neural import moments as moments
from tapemagic.tf.neural import scale_regularization_loss as scale_regularization_loss
from tapemagic.tf.neural import separable_conv2d as separable_conv2d
from tapemagic.tf.neural import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from tapemagic.tf.neural import silu as silu
from tapemagic.tf.neural import softmax as softmax
from tapemagic.tf.neural import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from tapemagic.tf.neural import space_to_depth as space_to_depth
from tapemagic.tf.neural import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
from tapemagic.tf.neural import swish as swish
from tapemagic.tf.neural import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from tapemagic.tf.neural import weighted_moments as weighted_moments
from tapemagic.tf.reductions import zero_fraction as zero_fraction
from tapemagic.tf.selection import in_top_k as in_top_k
from tapemagic.tf.selection import top_k as top_k
from tapemagic.tf.missing import missing

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "batch_normalization",
    "bias_add",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "crelu",
    "depth_to_space",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "gelu",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "moments",
    "relu",
    "relu6",
    "scale_regularization_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "swish",
    "tanh",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "zero_fraction",
]

__getattr__ = missing(__name__, __all__)
