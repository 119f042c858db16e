"""See automatic differentiation: tf.GradientTape on NumPy, and a %%tape cell magic that shows it.

Examples
--------
>>> import numpy as np, tapemagic as tm
>>> x = tm.Variable(3.0)
>>> with tm.GradientTape() as tape:
...     y = x * np.sin(x)
>>> tape.gradient(y, x)
Tensor(-2.8288575)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tapemagic import errors
from tapemagic.engine import late as _late  # noqa: F401 (fills the table further once SciPy is there)
from tapemagic.engine import rules as _rules  # noqa: F401 (fills the table)
from tapemagic.engine.tape.unconnected import UnconnectedGradients
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable
from tapemagic.tape import GradientTape

if TYPE_CHECKING:
    from tapemagic.engine.functions.custom_gradient import custom_gradient
    from tapemagic.engine.functions.grad import grad, hessian, jacobian, value_and_grad
    from tapemagic.engine.functions.jvp_vjp import hvp, jvp, vjp
    from tapemagic.engine.functions.recompute_grad import recompute_grad
    from tapemagic.engine.functions.stop_gradient import grad_pass_through, stop_gradient
    from tapemagic.engine.functions.tensorflow import (
        gradients_function,
        implicit_grad,
        implicit_val_and_grad,
        make_vjp,
        val_and_grad_function,
        value_and_gradients_function,
    )
    from tapemagic.engine.gradcheck.check import check_gradients
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
    from tapemagic.engine.operations.convolution import (
        conv1d,
        conv1d_transpose,
        conv2d,
        conv2d_transpose,
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
    from tapemagic.engine.operations.pooling import avg_pool1d, avg_pool2d, max_pool1d, max_pool2d
    from tapemagic.engine.operations.scatter import scatter_add
    from tapemagic.engine.operations.selection import cast, one_hot, top_k

__version__ = "0.1.0"
__all__ = [
    "GradientTape",
    "Tensor",
    "UnconnectedGradients",
    "Variable",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "cast",
    "check_gradients",
    "clip_by_global_norm",
    "clip_by_norm",
    "constant",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "custom_gradient",
    "dropout",
    "elu",
    "erf",
    "erfc",
    "errors",
    "gather",
    "gather_nd",
    "gelu",
    "grad",
    "grad_pass_through",
    "gradients_function",
    "hard_sigmoid",
    "hessian",
    "hvp",
    "implicit_grad",
    "implicit_val_and_grad",
    "jacobian",
    "jvp",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "load_ipython_extension",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "make_vjp",
    "max_pool1d",
    "max_pool2d",
    "one_hot",
    "recompute_grad",
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
    "stop_gradient",
    "swish",
    "top_k",
    "unload_ipython_extension",
    "val_and_grad_function",
    "value_and_grad",
    "value_and_gradients_function",
    "vjp",
]

_HOMES = {
    "tapemagic.engine.functions.custom_gradient": "custom_gradient",
    "tapemagic.engine.functions.jvp_vjp": "hvp jvp vjp",
    "tapemagic.engine.functions.tensorflow": (
        "gradients_function implicit_grad implicit_val_and_grad make_vjp "
        "val_and_grad_function value_and_gradients_function"
    ),
    "tapemagic.engine.gradcheck.check": "check_gradients",
    "tapemagic.engine.operations.activations": "elu gelu leaky_relu relu relu6 selu silu swish",
    "tapemagic.engine.operations.convolution": "conv1d conv1d_transpose conv2d conv2d_transpose",
    "tapemagic.engine.operations.errorfunction": "erf erfc",
    "tapemagic.engine.operations.exponentials": "log_softmax logsumexp softmax",
    "tapemagic.engine.operations.gathering": "gather gather_nd scatter_nd segment_sum",
    "tapemagic.engine.operations.logistic": "hard_sigmoid log_sigmoid sigmoid softplus softsign",
    "tapemagic.engine.operations.losses": (
        "sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy"
    ),
    "tapemagic.engine.operations.normalization": "batch_norm dropout layer_norm",
    "tapemagic.engine.operations.norms": "clip_by_global_norm clip_by_norm l2_normalize",
    "tapemagic.engine.operations.pooling": "avg_pool1d avg_pool2d max_pool1d max_pool2d",
    "tapemagic.engine.operations.scatter": "scatter_add",
    "tapemagic.engine.operations.selection": "cast one_hot top_k",
    "tapemagic.engine.functions.stop_gradient": "grad_pass_through stop_gradient",
    "tapemagic.engine.functions.recompute_grad": "recompute_grad",
    "tapemagic.engine.functions.grad": "grad hessian jacobian value_and_grad",
}
"""Where the names are that are loaded when they are first asked for."""


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names.split():
            globals()[name] = value = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'tapemagic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Register %%tape, %tape and %gradient: what ``%load_ext tapemagic`` calls.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell

    Examples
    --------
    ::

        %load_ext tapemagic
    """
    from tapemagic.ipython.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics away again: what ``%unload_ext tapemagic`` calls.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell

    Examples
    --------
    ::

        %unload_ext tapemagic
    """
    from tapemagic.ipython.extension import unload

    unload(shell)
