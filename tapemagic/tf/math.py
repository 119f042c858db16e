"""Functions of numbers: ``tf.math``."""

from tapemagic.tf.elementwise import abs as abs
from tapemagic.tf.elementwise import acos as acos
from tapemagic.tf.elementwise import acosh as acosh
from tapemagic.tf.elementwise import add as add
from tapemagic.tf.elementwise import angle as angle
from tapemagic.tf.elementwise import asin as asin
from tapemagic.tf.elementwise import asinh as asinh
from tapemagic.tf.elementwise import atan as atan
from tapemagic.tf.elementwise import atanh as atanh
from tapemagic.tf.elementwise import ceil as ceil
from tapemagic.tf.elementwise import conj as conj
from tapemagic.tf.elementwise import cos as cos
from tapemagic.tf.elementwise import cosh as cosh
from tapemagic.tf.elementwise import divide as divide
from tapemagic.tf.elementwise import divide_no_nan as divide_no_nan
from tapemagic.tf.elementwise import equal as equal
from tapemagic.tf.elementwise import erf as erf
from tapemagic.tf.elementwise import erfc as erfc
from tapemagic.tf.elementwise import exp as exp
from tapemagic.tf.elementwise import expm1 as expm1
from tapemagic.tf.elementwise import floor as floor
from tapemagic.tf.elementwise import floordiv as floordiv
from tapemagic.tf.elementwise import floormod as floormod
from tapemagic.tf.elementwise import greater as greater
from tapemagic.tf.elementwise import greater_equal as greater_equal
from tapemagic.tf.elementwise import imag as imag
from tapemagic.tf.elementwise import is_finite as is_finite
from tapemagic.tf.elementwise import is_inf as is_inf
from tapemagic.tf.elementwise import is_nan as is_nan
from tapemagic.tf.elementwise import less as less
from tapemagic.tf.elementwise import less_equal as less_equal
from tapemagic.tf.elementwise import log as log
from tapemagic.tf.elementwise import log1p as log1p
from tapemagic.tf.elementwise import log_sigmoid as log_sigmoid
from tapemagic.tf.elementwise import logical_and as logical_and
from tapemagic.tf.elementwise import logical_not as logical_not
from tapemagic.tf.elementwise import logical_or as logical_or
from tapemagic.tf.elementwise import logical_xor as logical_xor
from tapemagic.tf.elementwise import maximum as maximum
from tapemagic.tf.elementwise import minimum as minimum
from tapemagic.tf.elementwise import mod as mod
from tapemagic.tf.elementwise import multiply as multiply
from tapemagic.tf.elementwise import multiply_no_nan as multiply_no_nan
from tapemagic.tf.elementwise import negative as negative
from tapemagic.tf.elementwise import not_equal as not_equal
from tapemagic.tf.elementwise import pow as pow
from tapemagic.tf.elementwise import real as real
from tapemagic.tf.elementwise import reciprocal as reciprocal
from tapemagic.tf.elementwise import reciprocal_no_nan as reciprocal_no_nan
from tapemagic.tf.elementwise import rint as rint
from tapemagic.tf.elementwise import round as round
from tapemagic.tf.elementwise import rsqrt as rsqrt
from tapemagic.tf.elementwise import sigmoid as sigmoid
from tapemagic.tf.elementwise import sign as sign
from tapemagic.tf.elementwise import sin as sin
from tapemagic.tf.elementwise import sinh as sinh
from tapemagic.tf.elementwise import softplus as softplus
from tapemagic.tf.elementwise import softsign as softsign
from tapemagic.tf.elementwise import sqrt as sqrt
from tapemagic.tf.elementwise import square as square
from tapemagic.tf.elementwise import squared_difference as squared_difference
from tapemagic.tf.elementwise import subtract as subtract
from tapemagic.tf.elementwise import tan as tan
from tapemagic.tf.elementwise import tanh as tanh
from tapemagic.tf.elementwise import truediv as truediv
from tapemagic.tf.elementwise import xdivy as xdivy
from tapemagic.tf.elementwise import xlogy as xlogy
from tapemagic.tf.gathering import segment_max as segment_max
from tapemagic.tf.gathering import segment_mean as segment_mean
from tapemagic.tf.gathering import segment_min as segment_min
from tapemagic.tf.gathering import segment_prod as segment_prod
from tapemagic.tf.gathering import segment_sum as segment_sum
from tapemagic.tf.gathering import unsorted_segment_max as unsorted_segment_max
from tapemagic.tf.gathering import unsorted_segment_mean as unsorted_segment_mean
from tapemagic.tf.gathering import unsorted_segment_min as unsorted_segment_min
from tapemagic.tf.gathering import unsorted_segment_prod as unsorted_segment_prod
from tapemagic.tf.gathering import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from tapemagic.tf.gathering import unsorted_segment_sum as unsorted_segment_sum
from tapemagic.tf.linear_algebra import l2_normalize as l2_normalize
from tapemagic.tf.neural import log_softmax as log_softmax
from tapemagic.tf.neural import softmax as softmax
from tapemagic.tf.reductions import add_n as add_n
from tapemagic.tf.reductions import argmax as argmax
from tapemagic.tf.reductions import argmin as argmin
from tapemagic.tf.reductions import bincount as bincount
from tapemagic.tf.reductions import confusion_matrix as confusion_matrix
from tapemagic.tf.reductions import count_nonzero as count_nonzero
from tapemagic.tf.reductions import cumprod as cumprod
from tapemagic.tf.reductions import cumsum as cumsum
from tapemagic.tf.reductions import cumulative_logsumexp as cumulative_logsumexp
from tapemagic.tf.reductions import reduce_all as reduce_all
from tapemagic.tf.reductions import reduce_any as reduce_any
from tapemagic.tf.reductions import reduce_euclidean_norm as reduce_euclidean_norm
from tapemagic.tf.reductions import reduce_logsumexp as reduce_logsumexp
from tapemagic.tf.reductions import reduce_max as reduce_max
from tapemagic.tf.reductions import reduce_mean as reduce_mean
from tapemagic.tf.reductions import reduce_min as reduce_min
from tapemagic.tf.reductions import reduce_prod as reduce_prod
from tapemagic.tf.reductions import reduce_std as reduce_std
from tapemagic.tf.reductions import reduce_sum as reduce_sum
from tapemagic.tf.reductions import reduce_variance as reduce_variance
from tapemagic.tf.reductions import zero_fraction as zero_fraction
from tapemagic.tf.selection import in_top_k as in_top_k
from tapemagic.tf.selection import invert_permutation as invert_permutation
from tapemagic.tf.selection import is_non_decreasing as is_non_decreasing
from tapemagic.tf.selection import is_strictly_increasing as is_strictly_increasing
from tapemagic.tf.selection import top_k as top_k
from tapemagic.tf.special import bessel_i0 as bessel_i0
from tapemagic.tf.special import bessel_i0e as bessel_i0e
from tapemagic.tf.special import bessel_i1 as bessel_i1
from tapemagic.tf.special import bessel_i1e as bessel_i1e
from tapemagic.tf.special import betainc as betainc
from tapemagic.tf.special import digamma as digamma
from tapemagic.tf.special import erfcinv as erfcinv
from tapemagic.tf.special import erfinv as erfinv
from tapemagic.tf.special import igamma as igamma
from tapemagic.tf.special import igammac as igammac
from tapemagic.tf.special import lbeta as lbeta
from tapemagic.tf.special import lgamma as lgamma
from tapemagic.tf.special import ndtri as ndtri
from tapemagic.tf.special import polygamma as polygamma
from tapemagic.tf.special import xlog1py as xlog1py
from tapemagic.tf.special import zeta as zeta
from tapemagic.tf.missing import missing

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "angle",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "betainc",
    "bincount",
    "ceil",
    "confusion_matrix",
    "conj",
    "cos",
    "cosh",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "digamma",
    "divide",
    "divide_no_nan",
    "equal",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "exp",
    "expm1",
    "floor",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "igamma",
    "igammac",
    "imag",
    "in_top_k",
    "invert_permutation",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_non_decreasing",
    "is_strictly_increasing",
    "l2_normalize",
    "lbeta",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "ndtri",
    "negative",
    "not_equal",
    "polygamma",
    "pow",
    "real",
    "reciprocal",
    "reciprocal_no_nan",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "rint",
    "round",
    "rsqrt",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "softsign",
    "sqrt",
    "square",
    "squared_difference",
    "subtract",
    "tan",
    "tanh",
    "top_k",
    "truediv",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "xdivy",
    "xlog1py",
    "xlogy",
    "zero_fraction",
    "zeta",
]

__getattr__ = missing(__name__, __all__)
