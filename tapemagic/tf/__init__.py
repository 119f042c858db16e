"""TensorFlow's names over NumPy: ``import tapemagic.tf as tf`` is the one line to change in a GradientTape notebook.

A thin layer: tensors and variables are those of `tapemagic`, with TensorFlow's dtypes (float32 for Python's numbers),
its strictness about mixed ones, and its way to print. What NumPy does with them stays on the tape, too.

Examples
--------
>>> import tapemagic.tf as tf
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as g:
...     g.watch(x)
...     y = x * x
>>> print(g.gradient(y, x))
tf.Tensor(6.0, shape=(), dtype=float32)
"""

from importlib import import_module
from typing import Any

import tapemagic
from tapemagic.engine.tape.unconnected import UnconnectedGradients as UnconnectedGradients
from tapemagic.tf import bitwise as bitwise
from tapemagic.tf import config as config
from tapemagic.tf import debugging as debugging
from tapemagic.tf import dtypes as dtypes
from tapemagic.tf import errors as errors
from tapemagic.tf import linalg as linalg
from tapemagic.tf import math as math
from tapemagic.tf import nest as nest
from tapemagic.tf import nn as nn
from tapemagic.tf import random as random
from tapemagic.tf import signal as signal
from tapemagic.tf import version as version
from tapemagic.tf.about import executing_eagerly as executing_eagerly
from tapemagic.tf.about import get_current_name_scope as get_current_name_scope
from tapemagic.tf.about import get_logger as get_logger
from tapemagic.tf.about import inside_function as inside_function
from tapemagic.tf.arrays import broadcast_to as broadcast_to
from tapemagic.tf.arrays import concat as concat
from tapemagic.tf.arrays import ensure_shape as ensure_shape
from tapemagic.tf.arrays import expand_dims as expand_dims
from tapemagic.tf.arrays import identity as identity
from tapemagic.tf.arrays import identity_n as identity_n
from tapemagic.tf.arrays import meshgrid as meshgrid
from tapemagic.tf.arrays import pad as pad
from tapemagic.tf.arrays import rank as rank
from tapemagic.tf.arrays import repeat as repeat
from tapemagic.tf.arrays import reshape as reshape
from tapemagic.tf.arrays import reverse as reverse
from tapemagic.tf.arrays import roll as roll
from tapemagic.tf.arrays import shape as shape
from tapemagic.tf.arrays import size as size
from tapemagic.tf.arrays import slice as slice
from tapemagic.tf.arrays import split as split
from tapemagic.tf.arrays import squeeze as squeeze
from tapemagic.tf.arrays import stack as stack
from tapemagic.tf.arrays import tile as tile
from tapemagic.tf.arrays import transpose as transpose
from tapemagic.tf.arrays import unstack as unstack
from tapemagic.tf.control_flow import case as case
from tapemagic.tf.control_flow import cond as cond
from tapemagic.tf.control_flow import control_dependencies as control_dependencies
from tapemagic.tf.control_flow import device as device
from tapemagic.tf.control_flow import foldl as foldl
from tapemagic.tf.control_flow import foldr as foldr
from tapemagic.tf.control_flow import group as group
from tapemagic.tf.control_flow import init_scope as init_scope
from tapemagic.tf.control_flow import map_fn as map_fn
from tapemagic.tf.control_flow import no_op as no_op
from tapemagic.tf.control_flow import numpy_function as numpy_function
from tapemagic.tf.control_flow import py_function as py_function
from tapemagic.tf.control_flow import scan as scan
from tapemagic.tf.control_flow import switch_case as switch_case
from tapemagic.tf.control_flow import vectorized_map as vectorized_map
from tapemagic.tf.control_flow import while_loop as while_loop
from tapemagic.tf.creation import TensorSpec as TensorSpec
from tapemagic.tf.creation import cast as cast
from tapemagic.tf.creation import complex as complex
from tapemagic.tf.creation import constant as constant
from tapemagic.tf.creation import convert_to_tensor as convert_to_tensor
from tapemagic.tf.creation import eye as eye
from tapemagic.tf.creation import fill as fill
from tapemagic.tf.creation import linspace as linspace
from tapemagic.tf.creation import ones as ones
from tapemagic.tf.creation import ones_like as ones_like
from tapemagic.tf.creation import range as range
from tapemagic.tf.creation import saturate_cast as saturate_cast
from tapemagic.tf.creation import zeros as zeros
from tapemagic.tf.creation import zeros_like as zeros_like
from tapemagic.tf.debugging import Assert as Assert
from tapemagic.tf.debugging import assert_equal as assert_equal
from tapemagic.tf.debugging import assert_greater as assert_greater
from tapemagic.tf.debugging import assert_less as assert_less
from tapemagic.tf.debugging import assert_rank as assert_rank
from tapemagic.tf.dtype import DType as DType
from tapemagic.tf.dtype import as_dtype as as_dtype
from tapemagic.tf.dtype import bool as bool
from tapemagic.tf.dtype import complex128 as complex128
from tapemagic.tf.dtype import complex64 as complex64
from tapemagic.tf.dtype import double as double
from tapemagic.tf.dtype import float16 as float16
from tapemagic.tf.dtype import float32 as float32
from tapemagic.tf.dtype import float64 as float64
from tapemagic.tf.dtype import half as half
from tapemagic.tf.dtype import int16 as int16
from tapemagic.tf.dtype import int32 as int32
from tapemagic.tf.dtype import int64 as int64
from tapemagic.tf.dtype import int8 as int8
from tapemagic.tf.dtype import uint16 as uint16
from tapemagic.tf.dtype import uint32 as uint32
from tapemagic.tf.dtype import uint64 as uint64
from tapemagic.tf.dtype import uint8 as uint8
from tapemagic.tf.elementwise import abs as abs
from tapemagic.tf.elementwise import acos as acos
from tapemagic.tf.elementwise import acosh as acosh
from tapemagic.tf.elementwise import add as add
from tapemagic.tf.elementwise import asin as asin
from tapemagic.tf.elementwise import asinh as asinh
from tapemagic.tf.elementwise import atan as atan
from tapemagic.tf.elementwise import atanh as atanh
from tapemagic.tf.elementwise import cos as cos
from tapemagic.tf.elementwise import cosh as cosh
from tapemagic.tf.elementwise import divide as divide
from tapemagic.tf.elementwise import equal as equal
from tapemagic.tf.elementwise import exp as exp
from tapemagic.tf.elementwise import floor as floor
from tapemagic.tf.elementwise import greater as greater
from tapemagic.tf.elementwise import greater_equal as greater_equal
from tapemagic.tf.elementwise import less as less
from tapemagic.tf.elementwise import less_equal as less_equal
from tapemagic.tf.elementwise import logical_and as logical_and
from tapemagic.tf.elementwise import logical_not as logical_not
from tapemagic.tf.elementwise import logical_or as logical_or
from tapemagic.tf.elementwise import maximum as maximum
from tapemagic.tf.elementwise import minimum as minimum
from tapemagic.tf.elementwise import multiply as multiply
from tapemagic.tf.elementwise import negative as negative
from tapemagic.tf.elementwise import not_equal as not_equal
from tapemagic.tf.elementwise import pow as pow
from tapemagic.tf.elementwise import round as round
from tapemagic.tf.elementwise import sigmoid as sigmoid
from tapemagic.tf.elementwise import sign as sign
from tapemagic.tf.elementwise import sin as sin
from tapemagic.tf.elementwise import sinh as sinh
from tapemagic.tf.elementwise import sqrt as sqrt
from tapemagic.tf.elementwise import square as square
from tapemagic.tf.elementwise import subtract as subtract
from tapemagic.tf.elementwise import tan as tan
from tapemagic.tf.elementwise import tanh as tanh
from tapemagic.tf.elementwise import truediv as truediv
from tapemagic.tf.function import function as function
from tapemagic.tf.gathering import dynamic_partition as dynamic_partition
from tapemagic.tf.gathering import dynamic_stitch as dynamic_stitch
from tapemagic.tf.gathering import gather as gather
from tapemagic.tf.gathering import gather_nd as gather_nd
from tapemagic.tf.gathering import scatter_nd as scatter_nd
from tapemagic.tf.gathering import tensor_scatter_nd_add as tensor_scatter_nd_add
from tapemagic.tf.gathering import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from tapemagic.tf.gathering import tensor_scatter_nd_update as tensor_scatter_nd_update
from tapemagic.tf.gradients import GradientTape as GradientTape
from tapemagic.tf.gradients import custom_gradient as custom_gradient
from tapemagic.tf.gradients import grad_pass_through as grad_pass_through
from tapemagic.tf.gradients import recompute_grad as recompute_grad
from tapemagic.tf.gradients import stop_gradient as stop_gradient
from tapemagic.tf.linear_algebra import clip_by_global_norm as clip_by_global_norm
from tapemagic.tf.linear_algebra import clip_by_norm as clip_by_norm
from tapemagic.tf.linear_algebra import eig as eig
from tapemagic.tf.linear_algebra import eigvals as eigvals
from tapemagic.tf.linear_algebra import einsum as einsum
from tapemagic.tf.linear_algebra import matmul as matmul
from tapemagic.tf.linear_algebra import norm as norm
from tapemagic.tf.linear_algebra import tensordot as tensordot
from tapemagic.tf.module import Module as Module
from tapemagic.tf.name_scope import name_scope as name_scope
from tapemagic.tf.output import print as print
from tapemagic.tf.reductions import add_n as add_n
from tapemagic.tf.reductions import argmax as argmax
from tapemagic.tf.reductions import argmin as argmin
from tapemagic.tf.reductions import cumsum as cumsum
from tapemagic.tf.reductions import reduce_all as reduce_all
from tapemagic.tf.reductions import reduce_any as reduce_any
from tapemagic.tf.reductions import reduce_logsumexp as reduce_logsumexp
from tapemagic.tf.reductions import reduce_max as reduce_max
from tapemagic.tf.reductions import reduce_mean as reduce_mean
from tapemagic.tf.reductions import reduce_min as reduce_min
from tapemagic.tf.reductions import reduce_prod as reduce_prod
from tapemagic.tf.reductions import reduce_sum as reduce_sum
from tapemagic.tf.selection import argsort as argsort
from tapemagic.tf.selection import boolean_mask as boolean_mask
from tapemagic.tf.selection import clip_by_value as clip_by_value
from tapemagic.tf.selection import histogram_fixed_width as histogram_fixed_width
from tapemagic.tf.selection import one_hot as one_hot
from tapemagic.tf.selection import searchsorted as searchsorted
from tapemagic.tf.selection import sequence_mask as sequence_mask
from tapemagic.tf.selection import sort as sort
from tapemagic.tf.selection import unique as unique
from tapemagic.tf.selection import unique_with_counts as unique_with_counts
from tapemagic.tf.selection import unravel_index as unravel_index
from tapemagic.tf.selection import where as where
from tapemagic.tf.shape import TensorShape as TensorShape
from tapemagic.tf.tensor import EagerTensor as Tensor
from tapemagic.tf.tensor import is_tensor as is_tensor
from tapemagic.tf.variable import ResourceVariable as Variable
from tapemagic.tf.variable import VariableAggregation as VariableAggregation
from tapemagic.tf.variable import VariableSynchronization as VariableSynchronization
from tapemagic.tf.missing import missing

__version__ = f"{tapemagic.__version__} (tapemagic)"
newaxis = None

LATER = ("data", "keras")
"""Submodules that are imported when they are first used."""

__all__ = [
    "Assert",
    "DType",
    "GradientTape",
    "Module",
    "Tensor",
    "TensorShape",
    "TensorSpec",
    "UnconnectedGradients",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "asin",
    "asinh",
    "assert_equal",
    "assert_greater",
    "assert_less",
    "assert_rank",
    "atan",
    "atanh",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_to",
    "case",
    "cast",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "complex",
    "complex128",
    "complex64",
    "concat",
    "cond",
    "config",
    "constant",
    "control_dependencies",
    "convert_to_tensor",
    "cos",
    "cosh",
    "cumsum",
    "custom_gradient",
    "debugging",
    "device",
    "divide",
    "double",
    "dtypes",
    "dynamic_partition",
    "dynamic_stitch",
    "eig",
    "eigvals",
    "einsum",
    "ensure_shape",
    "equal",
    "errors",
    "executing_eagerly",
    "exp",
    "expand_dims",
    "eye",
    "fill",
    "float16",
    "float32",
    "float64",
    "floor",
    "foldl",
    "foldr",
    "function",
    "gather",
    "gather_nd",
    "get_current_name_scope",
    "get_logger",
    "grad_pass_through",
    "greater",
    "greater_equal",
    "group",
    "half",
    "histogram_fixed_width",
    "identity",
    "identity_n",
    "init_scope",
    "inside_function",
    "int16",
    "int32",
    "int64",
    "int8",
    "is_tensor",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "logical_and",
    "logical_not",
    "logical_or",
    "map_fn",
    "math",
    "matmul",
    "maximum",
    "meshgrid",
    "minimum",
    "multiply",
    "name_scope",
    "negative",
    "nest",
    "newaxis",
    "nn",
    "no_op",
    "norm",
    "not_equal",
    "numpy_function",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "pow",
    "print",
    "py_function",
    "random",
    "range",
    "rank",
    "recompute_grad",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "repeat",
    "reshape",
    "reverse",
    "roll",
    "round",
    "saturate_cast",
    "scan",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "shape",
    "sigmoid",
    "sign",
    "signal",
    "sin",
    "sinh",
    "size",
    "slice",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "subtract",
    "switch_case",
    "tan",
    "tanh",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensordot",
    "tile",
    "transpose",
    "truediv",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unstack",
    "vectorized_map",
    "version",
    "where",
    "while_loop",
    "zeros",
    "zeros_like",
]

_missing = missing(__name__, [*__all__, *LATER])


def __getattr__(name: str) -> Any:
    """Import a submodule when it is first used; for any other name, raise an error that says what to write instead."""
    if name in LATER:
        return import_module(f"{__name__}.{name}")
    return _missing(name)


def __dir__() -> list[str]:
    return [*__all__, *LATER]
