"""What NumPy lacks: operations of our own, recorded and differentiated like NumPy's."""

from tapemagic.engine.operations.activations import (
    elu,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    silu,
    swish,
)
from tapemagic.engine.operations.errorfunction import erf, erfc
from tapemagic.engine.operations.exponentials import log_softmax, logsumexp, softmax
from tapemagic.engine.operations.gathering import gather, gather_nd, scatter_nd, segment_sum
from tapemagic.engine.operations.logistic import (
    hard_sigmoid,
    log_sigmoid,
    sigmoid,
    softplus,
    softsign,
)
from tapemagic.engine.operations.losses import (
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from tapemagic.engine.operations.normalization import batch_norm, dropout, layer_norm
from tapemagic.engine.operations.norms import clip_by_global_norm, clip_by_norm, l2_normalize
from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.engine.operations.selection import cast, one_hot, top_k

__all__ = [
    "batch_norm",
    "cast",
    "clip_by_global_norm",
    "clip_by_norm",
    "dropout",
    "elu",
    "erf",
    "erfc",
    "gather",
    "gather_nd",
    "gelu",
    "hard_sigmoid",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "one_hot",
    "relu",
    "relu6",
    "scatter_add",
    "scatter_nd",
    "segment_sum",
    "selu",
    "sigmoid",
    "sigmoid_cross_entropy",
    "silu",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy",
    "swish",
    "top_k",
]
