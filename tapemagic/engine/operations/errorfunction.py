"""The error function and its complement, by Cody's rational approximations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import plain, real
from tapemagic.engine.operations.primitive import primitive

Function = Callable[[Any], Any]

MAX_NEAR = 0.46875
"""The maximum |x| for which erf is approximated; for larger |x|, erfc is."""

MAX_BETWEEN = 4.0
"""The maximum |x| for which erfc is approximated by a function of |x|; for larger |x|, by a function of 1 / x**2."""

ERFC_UNDERFLOW = 40.0
"""The function erfc is 0 in double precision for x of at least this number."""

BLOCK_SIZE = 1 << 15
"""The number of elements per block, so that temporaries stay in the processor's cache."""

# Cody 1969: numerators and denominators, highest power first.
NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2,
     3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
BETWEEN = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
     1.23033935480374942e3),
)  # fmt: skip
FAR = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242, 1.87295284992346047, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


@primitive
def erf(x: Any) -> Any:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to `x`.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor between -1 and 1, in the shape and dtype of `x`; float64 for integers.

    See Also
    --------
    erfc : 1 - erf(x), accurate if that is small.

    Notes
    -----
    Computed in double precision with the rational approximations of W. J. Cody, "Rational Chebyshev
    approximations for the error function", Mathematics of Computation 23 (1969), 631-637. The
    relative error is below 1e-15.

    Examples
    --------
    >>> import tapemagic as tm
    >>> f"{tm.erf(0.5):.12f}"
    '0.520499877813'
    >>> tm.erf([-float("inf"), 0.0, 10.0])
    array([-1.,  0.,  1.])
    """
    return _piecewise(_near, lambda x: np.copysign(1 - _tail(np.abs(x)), x), real(x, "erf"))


@primitive
def erfc(x: Any) -> Any:
    """The complementary error function, 1 - erf(x), accurate also if that is small.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor between 0 and 2, in the shape and dtype of `x`; float64 for integers.

    See Also
    --------
    erf : The error function, with the source of the approximations.

    Examples
    --------
    >>> import tapemagic as tm
    >>> f"{tm.erfc(10.0):.12e}"
    '2.088487583763e-45'
    """
    return _piecewise(
        lambda x: 1 - _near(x),
        lambda x: np.copysign(_tail(np.abs(x)), x) + 2 * np.signbit(x),
        real(x, "erfc"),
    )


def _piecewise(near: Function, far: Function, x: Any) -> Any:
    """Apply `near` to numbers of absolute value up to `MAX_NEAR`, and `far` to larger numbers and nan.

    The numbers are selected by their positions, because irregular boolean masks take NumPy longer.
    """
    flat = x.ravel()
    # Half and single precision are computed in double precision, block by block, and rounded once.
    result = np.empty_like(flat)
    for start in range(0, flat.size, BLOCK_SIZE):
        piece = flat[start : start + BLOCK_SIZE].astype(np.float64, copy=False)
        part = result[start : start + BLOCK_SIZE]
        inner = np.abs(piece) <= MAX_NEAR
        for function, places in ((near, np.flatnonzero(inner)), (far, np.flatnonzero(~inner))):
            part[places] = function(piece[places])
    return plain(result.reshape(x.shape))


def _near(x: Any) -> Any:
    """Compute erf of numbers up to `MAX_NEAR`: x times a rational function of x**2."""
    return x * _ratio(NEAR, x * x)


def _tail(size: Any) -> Any:
    """Compute erfc of numbers larger than `MAX_NEAR`: exp(-x**2) times a rational function.

    Rounding x**2 would lose as many digits of exp(-x**2) as x**2 has before the decimal point. So x**2 is split into
    the square of x rounded to 1/16, which is exact, and a small rest (Cody 1969).
    """
    # Larger numbers, and inf, would give inf - inf below; their erfc is 0 all the same.
    size = np.minimum(size, ERFC_UNDERFLOW)
    factor = _ratio(BETWEEN, size)
    far = np.flatnonzero(size > MAX_BETWEEN)
    nearness = 1 / np.square(size[far])
    factor[far] = (1 / math.sqrt(math.pi) - nearness * _ratio(FAR, nearness)) / size[far]
    rounded = np.trunc(size * 16) / 16
    return np.exp(-rounded * rounded) * np.exp((rounded - size) * (rounded + size)) * factor


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    """Compute the quotient of two polynomials."""
    above, below = (_polynomial(coefficients, x) for coefficients in polynomials)
    return np.divide(above, below, out=above)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Evaluate a polynomial by Horner's rule in place; np.polyval would allocate memory at each step."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value
