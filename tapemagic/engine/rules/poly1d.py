"""``np.poly1d`` of a tensor: a polynomial that stays on the tape, whoever is given it.

NumPy trims zeros in front of the coefficients. Of a tensor they stay: a zero is the value of a coefficient which
a tape may watch, and its gradient need not be zero. So `order` counts the coefficients given, less one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tensor.dispatch import call
from tapemagic.engine.tensor.tensor import Traced, as_operand, unwrap

OWN = frozenset(
    {np.polyadd, np.polysub, np.polymul, np.polydiv, np.polyval, np.polyder, np.polyint}
)
"""The functions that know an ``np.poly1d`` when they see one; to all others it is an array of coefficients."""


class Polynomial(np.poly1d):
    """An ``np.poly1d`` with a tensor of coefficients; ``np.poly1d(tensor)`` makes one."""

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, np.poly1d):
            super().__init__(c_or_r, r, variable)
            return
        given = as_operand(c_or_r)
        found = np.atleast_1d(np.poly(given) if r else given)
        if found.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        self._coeffs = found if len(found) else np.zeros(1, found.dtype)
        self._variable = variable or "x"

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in OWN:
            args = as_coefficients(args)
            kwargs = {name: as_coefficients(value) for name, value in kwargs.items()}
        return call(function, args, kwargs)

    def __truediv__(self, other: Any) -> Any:
        """Divide by a number, also one in a tensor; quotient and remainder by anything else."""
        if isinstance(other, Traced) and not other.ndim:
            return np.poly1d(self.coeffs / other)
        return super().__truediv__(other)

    __hash__ = None

    def __eq__(self, other: object) -> Any:
        """Whether two polynomials have the same values, whatever zeros are in front."""
        plain = [np.poly1d(unwrap(p.coeffs)) for p in (self, other) if isinstance(p, np.poly1d)]
        return plain[0] == plain[1] if len(plain) == 2 else NotImplemented

    def __repr__(self) -> str:
        return f"poly1d({self.coeffs!r})"


def as_coefficients(value: Any) -> Any:
    """The tensors of polynomials, also of those in lists and tuples; anything else as it is."""
    if isinstance(value, Polynomial):
        return value.coeffs
    if type(value) in (list, tuple):
        return type(value)(map(as_coefficients, value))
    return value


def _made(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """What ``np.poly1d(...)`` makes before it is filled: a `Polynomial`, if there is a tensor in it."""
    given = args[0] if args else kwargs.get("c_or_r")
    parts = given if isinstance(given, (list, tuple)) else (given,)
    of_tensor = any(isinstance(part, (Traced, Polynomial)) for part in parts)
    return object.__new__(Polynomial if cls is np.poly1d and of_tensor else cls)


np.poly1d.__new__ = _made  # type: ignore[method-assign]
