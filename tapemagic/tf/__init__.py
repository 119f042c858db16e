"""TensorFlow's names over NumPy: ``import tapemagic.tf as tf`` is the one line to change in a GradientTape notebook.

A thin layer: tensors and variables are those of `tapemagic`, with TensorFlow's dtypes (float32 for Python numbers), its
strictness about mixed dtypes, and its printing. NumPy operations on them stay on the tape as well.

Examples
--------
>>> import tapemagic.tf as tf
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as g:
...     g.watch(x)
...     y = x * x
>>> g.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tapemagic.engine.tape.unconnected import UnconnectedGradients
from tapemagic.tape import GradientTape
from tapemagic.tf import (
    autodiff,
    bitwise,
    compat,
    config,
    contrib,
    debugging,
    dtypes,
    errors,
    linalg,
    math,
    nest,
    nn,
    random,
    signal,
    version,
)
from tapemagic.tf.compat.v1 import enable_eager_execution
from tapemagic.tf.core.dtype import (
    DType,
    as_dtype,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.name_scope import name_scope
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.tensor import EagerTensor as Tensor
from tapemagic.tf.core.tensor import is_tensor
from tapemagic.tf.core.text import string
from tapemagic.tf.core.variable import ResourceVariable as Variable
from tapemagic.tf.core.variable import VariableAggregation, VariableSynchronization
from tapemagic.tf.debugging import Assert, assert_equal, assert_greater, assert_less, assert_rank
from tapemagic.tf.ops.about import (
    executing_eagerly,
    get_current_name_scope,
    get_logger,
    inside_function,
)
from tapemagic.tf.ops.arrays import (
    broadcast_to,
    concat,
    ensure_shape,
    expand_dims,
    identity,
    identity_n,
    meshgrid,
    pad,
    rank,
    repeat,
    reshape,
    reverse,
    roll,
    shape,
    size,
    slice,
    split,
    squeeze,
    stack,
    strided_slice,
    tile,
    transpose,
    unstack,
)
from tapemagic.tf.ops.control_flow import (
    case,
    cond,
    control_dependencies,
    device,
    foldl,
    foldr,
    group,
    init_scope,
    map_fn,
    no_op,
    numpy_function,
    py_function,
    scan,
    switch_case,
    vectorized_map,
    while_loop,
)
from tapemagic.tf.ops.creation import (
    TensorSpec,
    cast,
    complex,
    constant,
    convert_to_tensor,
    eye,
    fill,
    linspace,
    ones,
    ones_like,
    range,
    saturate_cast,
    zeros,
    zeros_like,
)
from tapemagic.tf.ops.creation import linspace as lin_space
from tapemagic.tf.ops.elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    divide,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    pow,
    round,
    scalar_mul,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    truediv,
)
from tapemagic.tf.ops.function import function
from tapemagic.tf.ops.gathering import (
    dynamic_partition,
    dynamic_stitch,
    gather,
    gather_nd,
    reverse_sequence,
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from tapemagic.tf.ops.gradients import (
    custom_gradient,
    grad_pass_through,
    recompute_grad,
    stop_gradient,
)
from tapemagic.tf.ops.linear_algebra import eig, eigvals
from tapemagic.tf.ops.module import Module
from tapemagic.tf.ops.norms import clip_by_global_norm, clip_by_norm, norm
from tapemagic.tf.ops.output import print
from tapemagic.tf.ops.products import einsum, matmul, tensordot
from tapemagic.tf.ops.reductions import (
    add_n,
    argmax,
    argmin,
    cumsum,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from tapemagic.tf.ops.selection import (
    argsort,
    boolean_mask,
    clip_by_value,
    histogram_fixed_width,
    one_hot,
    searchsorted,
    sequence_mask,
    sort,
    unique,
    unique_with_counts,
    unravel_index,
    where,
)
from tapemagic.tf.ops.tensor_array import TensorArray
from tapemagic.tf.version import VERSION

__version__ = VERSION
# NumPy's np.newaxis is None too, so x[:, tf.newaxis] needs no translation.
newaxis = None

# tf.keras brings in tapemagic.nn with all its layers: programs that only use a tape shouldn't pay for that import.
LATER = ("data", "image", "io", "keras", "strings", "train")
"""Submodules that are imported when they are first used."""

OF_KERAS = ("initializers", "losses", "metrics", "optimizers")
"""Submodules of tf.keras that TensorFlow also has at the top level."""

INITIALIZERS = {
    "constant_initializer": "Constant",
    "ones_initializer": "Ones",
    "random_normal_initializer": "RandomNormal",
    "random_uniform_initializer": "RandomUniform",
    "zeros_initializer": "Zeros",
}
"""Top-level names of classes in tf.keras.initializers."""

__all__ = [
    "Assert", "DType", "GradientTape", "Module", "Tensor", "TensorArray", "TensorShape", "TensorSpec",
    "UnconnectedGradients", "Variable", "VariableAggregation", "VariableSynchronization", "abs",
    "acos", "acosh", "add", "add_n", "argmax", "argmin", "argsort", "as_dtype", "asin", "asinh",
    "assert_equal", "assert_greater", "assert_less", "assert_rank", "atan", "atan2", "atanh",
    "autodiff", "bitwise", "bool", "boolean_mask", "broadcast_to", "case", "cast",
    "clip_by_global_norm", "clip_by_norm", "clip_by_value", "compat", "complex", "complex64",
    "complex128", "concat", "cond", "config", "constant", "contrib", "control_dependencies",
    "convert_to_tensor", "cos", "cosh", "cumsum", "custom_gradient", "debugging", "device",
    "divide", "double", "dtypes", "dynamic_partition", "dynamic_stitch", "eig", "eigvals", "einsum",
    "enable_eager_execution", "ensure_shape", "equal", "errors", "executing_eagerly", "exp",
    "expand_dims", "eye", "fill", "float16", "float32", "float64", "floor", "foldl", "foldr",
    "function", "gather", "gather_nd", "get_current_name_scope", "get_logger", "grad_pass_through",
    "greater", "greater_equal", "group", "half", "histogram_fixed_width", "identity", "identity_n",
    "init_scope", "inside_function", "int8", "int16", "int32", "int64", "is_tensor", "less",
    "less_equal", "lin_space", "linalg", "linspace", "logical_and", "logical_not", "logical_or",
    "map_fn", "math", "matmul", "maximum", "meshgrid", "minimum", "multiply", "name_scope",
    "negative", "nest", "newaxis", "nn", "no_op", "norm", "not_equal", "numpy_function", "one_hot",
    "ones", "ones_like", "pad", "pow", "print", "py_function", "random", "range", "rank",
    "recompute_grad", "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean",
    "reduce_min", "reduce_prod", "reduce_sum", "repeat", "reshape", "reverse", "reverse_sequence",
    "roll", "round", "saturate_cast", "scalar_mul", "scan", "scatter_nd", "searchsorted",
    "sequence_mask", "shape", "sigmoid", "sign", "signal", "sin", "sinh", "size", "slice", "sort",
    "split", "sqrt", "square", "squeeze", "stack", "stop_gradient", "strided_slice", "string", "subtract",
    "switch_case",
    "tan", "tanh", "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tensordot", "tile", "transpose",
    "truediv", "uint8", "uint16", "uint32", "uint64", "unique", "unique_with_counts",
    "unravel_index", "unstack", "vectorized_map", "version", "where", "while_loop", "zeros",
    "zeros_like",
]  # fmt: skip

if TYPE_CHECKING:
    from tapemagic.tf import data, image, keras, train
    from tapemagic.tf.keras import initializers, losses, metrics, optimizers

    constant_initializer: type[initializers.Constant]
    ones_initializer: type[initializers.Ones]
    random_normal_initializer: type[initializers.RandomNormal]
    random_uniform_initializer: type[initializers.RandomUniform]
    zeros_initializer: type[initializers.Zeros]

    __all__ += [
        "constant_initializer",
        "data",
        "image",
        "initializers",
        "keras",
        "losses",
        "metrics",
    ]
    __all__ += ["ones_initializer", "optimizers", "random_normal_initializer"]
    __all__ += ["random_uniform_initializer", "train", "zeros_initializer"]

# The names loaded on demand belong to the candidates too, so that a misspelt `tf.kears` suggests tf.keras.
_missing = missing(__name__, [*__all__, *LATER, *OF_KERAS, *INITIALIZERS])


def __getattr__(name: str) -> Any:
    """Import a submodule on first use; for any other name, raise an AttributeError with advice."""
    if name in LATER:
        return import_module(f"{__name__}.{name}")
    if name in OF_KERAS:
        return import_module(f"{__name__}.keras.{name}")
    if name == "as_string":
        return import_module(f"{__name__}.strings").as_string
    if name in INITIALIZERS:
        return getattr(import_module(f"{__name__}.keras.initializers"), INITIALIZERS[name])
    return _missing(name)


# Without this, dir() and tab completion would show only the names that are already imported (PEP 562).
def __dir__() -> list[str]:
    return [*__all__, *LATER, *OF_KERAS, *INITIALIZERS]
