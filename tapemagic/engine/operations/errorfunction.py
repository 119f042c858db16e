"""The error function and its complement."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import plain, real
from tapemagic.engine.operations.primitive import primitive

Function = Callable[[Any], Any]

SMALL = 0.46875
"""The largest |x| for which erf is approximated; beyond it, erfc is."""

MIDDLE = 4.0
"""The largest |x| for which erfc is approximated by a function of |x|; beyond it, of 1 / x**2."""

GONE = 40.0
"""The |x| from which erfc is 0 in double precision."""

PIECE = 1 << 15
"""The elements to process in one block, so that temporaries stay in the processor's cache."""

# Cody 1969: numerators and denominators, the highest power first.
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

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.

    Returns
    -------
    array or Tensor
        Between -1 and 1, in the shape and dtype of `x`; float64 for whole numbers.

    Raises
    ------
    UnsupportedArgumentError
        If `x` is complex.

    See Also
    --------
    erfc : 1 - erf(x), accurate where that is small.

    Notes
    -----
    Computed in double precision with the rational approximations of W. J. Cody, "Rational Chebyshev
    approximations for the error function", Mathematics of Computation 23 (1969), 631-637. The
    relative error is below 1e-15.

    Examples
    --------
    >>> from tapemagic.engine.operations.errorfunction import erf
    >>> f"{erf(0.5):.12f}"
    '0.520499877813'
    >>> erf([-float("inf"), 0.0, 10.0])
    array([-1.,  0.,  1.])
    """
    return _piecewise(_near, lambda x: np.copysign(1 - _tail(np.abs(x)), x), real(x, "erf"))


@primitive
def erfc(x: Any) -> Any:
    """The complementary error function, 1 - erf(x), accurate also where that is small.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.

    Returns
    -------
    array or Tensor
        Between 0 and 2, in the shape and dtype of `x`; float64 for whole numbers.

    Raises
    ------
    UnsupportedArgumentError
        If `x` is complex.

    See Also
    --------
    erf : The error function, with the source of the approximations.

    Examples
    --------
    >>> from tapemagic.engine.operations.errorfunction import erfc
    >>> f"{erfc(10.0):.12e}"
    '2.088487583763e-45'
    """
    return _piecewise(
        lambda x: 1 - _near(x),
        lambda x: np.copysign(_tail(np.abs(x)), x) + 2 * np.signbit(x),
        real(x, "erfc"),
    )


def _piecewise(near: Function, far: Function, x: Any) -> Any:
    """Apply `near` to the numbers of size up to `SMALL`, and `far` to larger ones and NaN.

    They are picked by their places: masks that cannot be predicted take NumPy longer.
    """
    flat = x.ravel()
    result = np.empty_like(flat)
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE].astype(np.float64, copy=False)
        part = result[start : start + PIECE]
        inner = np.abs(piece) <= SMALL
        for function, places in ((near, np.flatnonzero(inner)), (far, np.flatnonzero(~inner))):
            part[places] = function(piece[places])
    return plain(result.reshape(x.shape))


def _near(x: Any) -> Any:
    """erf of numbers of at most `SMALL`: x times a rational function of x**2."""
    return x * _ratio(NEAR, x * x)


def _tail(size: Any) -> Any:
    """erfc of numbers larger than `SMALL`: exp(-x**2) times a rational function.

    The square is taken apart, into an exact one and a small rest, so that no digit of it is lost.
    """
    size = np.minimum(size, GONE)
    factor = _ratio(BETWEEN, size)
    far = np.flatnonzero(size > MIDDLE)
    nearness = 1 / np.square(size[far])
    factor[far] = (1 / math.sqrt(math.pi) - nearness * _ratio(FAR, nearness)) / size[far]
    rounded = np.trunc(size * 16) / 16
    return np.exp(-rounded * rounded) * np.exp((rounded - size) * (rounded + size)) * factor


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    """The quotient of two polynomials."""
    above, below = (_polynomial(coefficients, x) for coefficients in polynomials)
    return np.divide(above, below, out=above)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """A polynomial by Horner's rule, in place; np.polyval takes new memory at each step."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value
