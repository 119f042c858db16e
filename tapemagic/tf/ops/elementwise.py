"""Element-wise functions of ``tf.math``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations import activations, errorfunction, logistic
from tapemagic.tf.core.adapter import adapter
from tapemagic.tf.core.convert import matched, operand, tensor
from tapemagic.tf.core.tensor import EagerTensor, floored_quotient, quotient_dtype
from tapemagic.tf.errors import InvalidArgumentError

Function = Callable[..., Any]
Adapted = Callable[..., EagerTensor]

KINDS = {
    "b": "booleans",
    "i": "integers",
    "u": "integers",
    "f": "real numbers",
    "c": "complex numbers",
}


def checked(name: str, x: Any, kinds: str) -> Any:
    """Check that a function accepts a tensor's kind of numbers.

    Raises
    ------
    InvalidArgumentError
        If it is of another kind.
    """
    if x.dtype.kind not in kinds:
        advice = "write tf.cast(x, tf.float32)" if "f" in kinds else f"it takes {KINDS[kinds[0]]}"
        raise InvalidArgumentError(
            f"{name} does not take {KINDS[x.dtype.kind]}, here of {x.dtype}: {advice}"
        )
    return x


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _reciprocal_no_nan(x: Any) -> Any:
    return np.where(x == 0, 0, 1 / np.where(x == 0, 1, x)).astype(x.dtype)


def _reciprocal(x: Any) -> Any:
    return x.dtype.type(1) / x


def _round(x: Any) -> Any:
    # Integers are returned unchanged, as in TensorFlow.
    return np.round(x) if x.dtype.kind in "fc" else x


def _relu(x: Any) -> Any:
    # Integers have no derivative, so they need none of the engine's rule for the slope at 0.
    return activations.relu(x) if x.dtype.kind == "f" else np.maximum(x, x.dtype.type(0))


def _relu6(x: Any) -> Any:
    return activations.relu6(x) if x.dtype.kind == "f" else np.clip(x, 0, 6)


def _squared_difference(x: Any, y: Any) -> Any:
    difference = x - y
    return (
        # The squared modulus has a complex dtype in TensorFlow, with the imaginary part 0.
        difference * np.conj(difference) if difference.dtype.kind == "c" else np.square(difference)
    )


def _quotient(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        wide = quotient_dtype(x.dtype)
        x, y = np.astype(x, wide), np.astype(y, wide)
    return x / y


# In the *_no_nan functions and in xdivy and xlogy, the inner where keeps the branch that is not chosen finite: its
# gradient, although multiplied by 0, would be nan otherwise.
def _divide_no_nan(x: Any, y: Any) -> Any:
    zero = y == 0
    return np.where(zero, x.dtype.type(0), x / np.where(zero, y.dtype.type(1), y))


def _multiply_no_nan(x: Any, y: Any) -> Any:
    zero = y == 0
    return np.where(zero, x.dtype.type(0), np.where(zero, x.dtype.type(0), x) * y)


def _xdivy(x: Any, y: Any) -> Any:
    zero = x == 0
    return np.where(zero, x.dtype.type(0), x / np.where(zero, y.dtype.type(1), y))


def _xlogy(x: Any, y: Any) -> Any:
    zero = x == 0
    return np.where(zero, x.dtype.type(0), x * np.log(np.where(zero, y.dtype.type(1), y)))


def _dividing(compute: Function) -> Function:
    """Wrap a division so that integer division by zero is an error."""

    def divided(x: Any, y: Any) -> Any:
        # NumPy would warn and return 0.
        if y.dtype.kind in "iu" and not np.all(y):
            raise InvalidArgumentError("Integer division by zero")
        return compute(x, y)

    return divided


def _floored(x: Any, y: Any) -> Any:
    return (floored_quotient if x.dtype.kind == "f" else np.floor_divide)(x, y)


_floordiv, _floormod = _dividing(_floored), _dividing(np.remainder)


def _power(x: Any, y: Any) -> Any:
    # NumPy raises a ValueError whose text does not say what to write instead.
    if y.dtype.kind == "i" and np.any(y < 0):
        raise InvalidArgumentError(
            "Integers to negative integer powers are not allowed: cast them to tf.float32"
        )
    return np.power(x, y)


# Kinds of dtypes that TensorFlow's kernels accept: tf.sin(1) is an error, where NumPy computes in float64.
_REAL, _COMPLEX, _ANY, _SIGNED = "f", "fc", "iufc", "ifc"


def _of_x(name: str, compute: Function, kinds: str, doc: str) -> Adapted:
    """Adapt a function of one tensor; TensorFlow calls the argument `x`."""

    def computed(x: Any, name: str | None = None) -> Any:
        return compute(checked(called, tensor(x), kinds))

    # The inner parameter `name`, which every TensorFlow function has, hides the outer one.
    called = name
    return _named(computed, name, doc)


def _of_input(name: str, compute: Function, kinds: str, doc: str) -> Adapted:
    """Adapt a function of one tensor; TensorFlow calls the argument `input`."""

    def computed(input: Any, name: str | None = None) -> Any:
        return compute(checked(called, tensor(input), kinds))

    called = name
    return _named(computed, name, doc)


def _of_features(name: str, compute: Function, kinds: str, doc: str) -> Adapted:
    """Adapt a function of one tensor; TensorFlow calls the argument `features`."""

    def computed(features: Any, name: str | None = None) -> Any:
        return compute(checked(called, tensor(features), kinds))

    called = name
    return _named(computed, name, doc)


def _of_two(name: str, compute: Function, kinds: str, doc: str) -> Adapted:
    """Adapt a function of two tensors of one dtype, `x` and `y`."""

    def computed(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = matched(called, x, y)
        return compute(checked(called, x, kinds), y)

    called = name
    return _named(computed, name, doc)


def _named(function: Function, name: str, doc: str) -> Adapted:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return adapter(function)


# ruff: noqa: E501
# fmt: off
abs = _of_x("abs", np.abs, _SIGNED, "The absolute value of each element.")
acos = _of_x("acos", np.arccos, _COMPLEX, "The inverse cosine of each element.")
acosh = _of_x("acosh", np.arccosh, _COMPLEX, "The inverse hyperbolic cosine of each element.")
angle = _of_input("angle", np.angle, _COMPLEX, "The angle of each complex number, in radians.")
asin = _of_x("asin", np.arcsin, _COMPLEX, "The inverse sine of each element.")
asinh = _of_x("asinh", np.arcsinh, _COMPLEX, "The inverse hyperbolic sine of each element.")
atan = _of_x("atan", np.arctan, _COMPLEX, "The inverse tangent of each element.")
atanh = _of_x("atanh", np.arctanh, _COMPLEX, "The inverse hyperbolic tangent of each element.")
ceil = _of_x("ceil", np.ceil, _REAL, "Each element rounded up; without gradient.")
conj = _of_x("conj", np.conj, _ANY, "The complex conjugate of each element.")
cos = _of_x("cos", np.cos, _COMPLEX, "The cosine of each element.")
cosh = _of_x("cosh", np.cosh, _COMPLEX, "The hyperbolic cosine of each element.")
erf = _of_x("erf", errorfunction.erf, _REAL, "The error function of each element.")
erfc = _of_x("erfc", errorfunction.erfc, _REAL, "1 minus the error function of each element.")
exp = _of_x("exp", np.exp, _COMPLEX, "e to the power of each element.")
expm1 = _of_x("expm1", np.expm1, _COMPLEX, "e to the power of each element, minus 1.")
floor = _of_x("floor", np.floor, _REAL, "Each element rounded down; without gradient.")
imag = _of_input("imag", np.imag, _ANY, "The imaginary part of each element.")
is_finite = _of_x("is_finite", np.isfinite, _REAL, "True where an element is neither infinite nor NaN.")
is_inf = _of_x("is_inf", np.isinf, _REAL, "True where an element is infinite.")
is_nan = _of_x("is_nan", np.isnan, _REAL, "True where an element is NaN.")
log = _of_x("log", np.log, _COMPLEX, "The natural logarithm of each element.")
log1p = _of_x("log1p", np.log1p, _COMPLEX, "The natural logarithm of 1 plus each element.")
log_sigmoid = _of_x("log_sigmoid", logistic.log_sigmoid, _REAL, "The logarithm of the sigmoid of each element.")
logical_not = _of_x("logical_not", np.logical_not, "b", "True where an element is false.")
negative = _of_x("negative", np.negative, _SIGNED, "Each element with the other sign.")
real = _of_input("real", np.real, _ANY, "The real part of each element.")
reciprocal = _of_x("reciprocal", _reciprocal, _COMPLEX, "1 divided by each element.")
reciprocal_no_nan = _of_x("reciprocal_no_nan", _reciprocal_no_nan, _COMPLEX, "1 divided by each element; 0 where that is 0.")
rint = _of_x("rint", np.rint, _REAL, "The nearest integer, the even one halfway; without gradient.")
round = _of_x("round", _round, _ANY, "The nearest integer, the even one halfway; without gradient.")
rsqrt = _of_x("rsqrt", _rsqrt, _COMPLEX, "1 divided by the square root of each element.")
sigmoid = _of_x("sigmoid", logistic.sigmoid, _REAL, "1 / (1 + exp(-x)) for each element x.")
sign = _of_x("sign", np.sign, _SIGNED, "-1, 0 or 1, by the sign of each element; of complex x, x / abs(x).")
sin = _of_x("sin", np.sin, _COMPLEX, "The sine of each element.")
sinh = _of_x("sinh", np.sinh, _COMPLEX, "The hyperbolic sine of each element.")
softplus = _of_features("softplus", logistic.softplus, _REAL, "log(exp(x) + 1) for each element x.")
softsign = _of_features("softsign", logistic.softsign, _REAL, "x / (abs(x) + 1) for each element x.")
sqrt = _of_x("sqrt", np.sqrt, _COMPLEX, "The square root of each element.")
square = _of_x("square", np.square, _ANY, "The square of each element.")
tan = _of_x("tan", np.tan, _COMPLEX, "The tangent of each element.")
tanh = _of_x("tanh", np.tanh, _COMPLEX, "The hyperbolic tangent of each element.")
relu = _of_features("relu", _relu, "iuf", "max(x, 0) for each element x.")
relu6 = _of_features("relu6", _relu6, "iuf", "min(max(x, 0), 6) for each element x.")
elu = _of_features("elu", activations.elu, _REAL, "exp(x) - 1 for each element x below 0, otherwise x.")
selu = _of_features("selu", activations.selu, _REAL, "The scaled exponential linear unit: scale * elu(x, alpha) for each element x.")
add = _of_two("add", np.add, _ANY, "x + y, element-wise.")
subtract = _of_two("subtract", np.subtract, _ANY, "x - y, element-wise.")
multiply = _of_two("multiply", np.multiply, _ANY, "x * y, element-wise.")
maximum = _of_two("maximum", np.maximum, "iuf", "The larger of x and y, element-wise; where they are equal, the gradient goes to x.")
minimum = _of_two("minimum", np.minimum, "iuf", "The smaller of x and y, element-wise; where they are equal, the gradient goes to x.")
squared_difference = _of_two("squared_difference", _squared_difference, _ANY, "(x - y) * conj(x - y), element-wise.")
truediv = _of_two("truediv", _quotient, _ANY, "x / y, element-wise; of integers in float64, of short integers in float32.")
divide_no_nan = _of_two("divide_no_nan", _divide_no_nan, _COMPLEX, "x / y, element-wise; 0 where y is 0.")
multiply_no_nan = _of_two("multiply_no_nan", _multiply_no_nan, _COMPLEX, "x * y, element-wise; 0 where y is 0, also if x is infinite or NaN.")
floordiv = _of_two("floordiv", _floordiv, "iuf", "x / y rounded down, element-wise; without gradient.")
floormod = _of_two("floormod", _floormod, "iuf", "The remainder of x / y, with the sign of y, element-wise.")
pow = _of_two("pow", _power, _SIGNED, "x to the power of y, element-wise.")
greater = _of_two("greater", np.greater, "iuf", "x > y, element-wise.")
greater_equal = _of_two("greater_equal", np.greater_equal, "iuf", "x >= y, element-wise.")
less = _of_two("less", np.less, "iuf", "x < y, element-wise.")
less_equal = _of_two("less_equal", np.less_equal, "iuf", "x <= y, element-wise.")
equal = _of_two("equal", np.equal, "biufc", "x == y, element-wise.")
not_equal = _of_two("not_equal", np.not_equal, "biufc", "x != y, element-wise.")
logical_and = _of_two("logical_and", np.logical_and, "b", "True where x and y are true, element-wise.")
logical_or = _of_two("logical_or", np.logical_or, "b", "True where x or y is true, element-wise.")
logical_xor = _of_two("logical_xor", np.logical_xor, "b", "True where exactly one of x and y is true, element-wise.")
xdivy = _of_two("xdivy", _xdivy, _COMPLEX, "x / y, element-wise; 0 where x is 0.")
xlogy = _of_two("xlogy", _xlogy, _COMPLEX, "x * log(y), element-wise; 0 where x is 0.")
# fmt: on


@adapter
def atan2(y: Any, x: Any, name: str | None = None) -> Any:
    """Return the angle of the point (x, y) in radians, element-wise."""
    y, x = matched("atan2", y, x)
    return np.arctan2(checked("atan2", y, "f"), x)


@adapter
def nextafter(x1: Any, x2: Any, name: str | None = None) -> Any:
    """Return the next number after x1 in the direction of x2, element-wise."""
    a, b = matched("nextafter", x1, x2)
    return np.nextafter(checked("nextafter", a, "f"), b)


@adapter
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Multiply a tensor by a scalar."""
    x_tensor = tensor(x)
    return tensor(operand(scalar, x_tensor.dtype, "scalar_mul"), x_tensor.dtype) * x_tensor


@adapter
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """Evaluate a polynomial, highest power first, by Horner's rule."""
    at = tensor(x)
    # Starts from zeros, so that a polynomial without coefficients is 0, as in TensorFlow.
    total = np.zeros(at.shape, at.dtype)
    for coefficient in coeffs:
        total = total * at + tensor(operand(coefficient, at.dtype, "polyval"), at.dtype)
    return total


divide = truediv
mod = floormod
