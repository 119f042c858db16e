# The public names of tapemagic, each with the module that defines it. Type checkers read this file; at run
# time __init__.py reads it too, and imports a module when one of its names is first used. A new public name
# needs one line here, and nothing anywhere else.

from typing import Any

from tapemagic import distributed as distributed
from tapemagic import errors as errors
from tapemagic import nn as nn
from tapemagic import tf as tf
from tapemagic.engine.functions.custom_gradient import custom_gradient as custom_gradient
from tapemagic.engine.functions.grad import grad as grad
from tapemagic.engine.functions.grad import hessian as hessian
from tapemagic.engine.functions.grad import jacobian as jacobian
from tapemagic.engine.functions.grad import value_and_grad as value_and_grad
from tapemagic.engine.functions.jvp_vjp import hvp as hvp
from tapemagic.engine.functions.jvp_vjp import jvp as jvp
from tapemagic.engine.functions.jvp_vjp import vjp as vjp
from tapemagic.engine.functions.recompute_grad import recompute_grad as recompute_grad
from tapemagic.engine.functions.stop_gradient import grad_pass_through as grad_pass_through
from tapemagic.engine.functions.stop_gradient import stop_gradient as stop_gradient
from tapemagic.engine.functions.tensorflow import gradients_function as gradients_function
from tapemagic.engine.functions.tensorflow import implicit_grad as implicit_grad
from tapemagic.engine.functions.tensorflow import implicit_val_and_grad as implicit_val_and_grad
from tapemagic.engine.functions.tensorflow import make_vjp as make_vjp
from tapemagic.engine.functions.tensorflow import val_and_grad_function as val_and_grad_function
from tapemagic.engine.functions.tensorflow import (
    value_and_gradients_function as value_and_gradients_function,
)
from tapemagic.engine.gradcheck.check import check_gradients as check_gradients
from tapemagic.engine.operations.activations import elu as elu
from tapemagic.engine.operations.activations import gelu as gelu
from tapemagic.engine.operations.activations import leaky_relu as leaky_relu
from tapemagic.engine.operations.activations import relu as relu
from tapemagic.engine.operations.activations import relu6 as relu6
from tapemagic.engine.operations.activations import selu as selu
from tapemagic.engine.operations.activations import silu as silu
from tapemagic.engine.operations.activations import swish as swish
from tapemagic.engine.operations.convolution import conv1d as conv1d
from tapemagic.engine.operations.convolution import conv1d_transpose as conv1d_transpose
from tapemagic.engine.operations.convolution import conv2d as conv2d
from tapemagic.engine.operations.convolution import conv2d_transpose as conv2d_transpose
from tapemagic.engine.operations.errorfunction import erf as erf
from tapemagic.engine.operations.errorfunction import erfc as erfc
from tapemagic.engine.operations.exponentials import log_softmax as log_softmax
from tapemagic.engine.operations.exponentials import logsumexp as logsumexp
from tapemagic.engine.operations.exponentials import softmax as softmax
from tapemagic.engine.operations.gathering import gather as gather
from tapemagic.engine.operations.gathering import gather_nd as gather_nd
from tapemagic.engine.operations.gathering import scatter_nd as scatter_nd
from tapemagic.engine.operations.gathering import segment_sum as segment_sum
from tapemagic.engine.operations.logistic import hard_sigmoid as hard_sigmoid
from tapemagic.engine.operations.logistic import log_sigmoid as log_sigmoid
from tapemagic.engine.operations.logistic import sigmoid as sigmoid
from tapemagic.engine.operations.logistic import softplus as softplus
from tapemagic.engine.operations.logistic import softsign as softsign
from tapemagic.engine.operations.losses import sigmoid_cross_entropy as sigmoid_cross_entropy
from tapemagic.engine.operations.losses import softmax_cross_entropy as softmax_cross_entropy
from tapemagic.engine.operations.normalization import batch_norm as batch_norm
from tapemagic.engine.operations.normalization import dropout as dropout
from tapemagic.engine.operations.normalization import layer_norm as layer_norm
from tapemagic.engine.operations.norms import clip_by_global_norm as clip_by_global_norm
from tapemagic.engine.operations.norms import clip_by_norm as clip_by_norm
from tapemagic.engine.operations.norms import l2_normalize as l2_normalize
from tapemagic.engine.operations.pooling import avg_pool1d as avg_pool1d
from tapemagic.engine.operations.pooling import avg_pool2d as avg_pool2d
from tapemagic.engine.operations.pooling import max_pool1d as max_pool1d
from tapemagic.engine.operations.pooling import max_pool2d as max_pool2d
from tapemagic.engine.operations.primitive import register_vjp as register_vjp
from tapemagic.engine.operations.scatter import scatter_add as scatter_add
from tapemagic.engine.operations.selection import cast as cast
from tapemagic.engine.operations.selection import one_hot as one_hot
from tapemagic.engine.operations.selection import top_k as top_k
from tapemagic.engine.operations.sparse_losses import (
    sparse_softmax_cross_entropy as sparse_softmax_cross_entropy,
)
from tapemagic.engine.tape.unconnected import UnconnectedGradients as UnconnectedGradients
from tapemagic.engine.tensor.constant import constant as constant
from tapemagic.engine.tensor.tensor import Tensor as Tensor
from tapemagic.engine.tensor.variable import Variable as Variable
from tapemagic.programs.function import Function as Function
from tapemagic.programs.function import function as function
from tapemagic.tape import GradientTape as GradientTape

__version__: str

def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
