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

from typing import Any

from tapemagic import errors
from tapemagic.engine import late as _late  # noqa: F401 (fills it further once SciPy is there)
from tapemagic.engine import rules as _rules  # noqa: F401 (fills the table)
from tapemagic.engine.constants import constant
from tapemagic.engine.custom import (
    custom_gradient,
    grad_pass_through,
    recompute_grad,
    stop_gradient,
)
from tapemagic.engine.functional import (
    gradients_function,
    implicit_grad,
    implicit_val_and_grad,
    make_vjp,
    val_and_grad_function,
    value_and_gradients_function,
)
from tapemagic.engine.gradcheck import check_gradients
from tapemagic.engine.operations import (
    batch_norm,
    cast,
    clip_by_global_norm,
    clip_by_norm,
    dropout,
    elu,
    erf,
    erfc,
    gather,
    gather_nd,
    gelu,
    hard_sigmoid,
    l2_normalize,
    layer_norm,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    logsumexp,
    one_hot,
    relu,
    relu6,
    scatter_add,
    scatter_nd,
    segment_sum,
    selu,
    sigmoid,
    sigmoid_cross_entropy,
    silu,
    softmax,
    softmax_cross_entropy,
    softplus,
    softsign,
    sparse_softmax_cross_entropy,
    swish,
    top_k,
)
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Tensor
from tapemagic.engine.transforms import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
from tapemagic.engine.unconnected import UnconnectedGradients
from tapemagic.engine.variable import Variable

__version__ = "0.1.0"
__all__ = [
    "GradientTape",
    "Tensor",
    "UnconnectedGradients",
    "Variable",
    "batch_norm",
    "cast",
    "check_gradients",
    "clip_by_global_norm",
    "clip_by_norm",
    "constant",
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
