"""Regularizers: functions of a variable whose value is added to the loss as a penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.norms import l2_normalize
from tapemagic.errors import ShapeError
from tapemagic.nn.arguments import choice, number
from tapemagic.nn.config import epsilon
from tapemagic.nn.configurable import Configurable
from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.identifiers import find

__all__ = [
    "L1", "L1L2", "L2", "OrthogonalRegularizer", "Regularizer", "get", "l1", "l1_l2", "l2",
    "orthogonal_regularizer",
]  # fmt: skip


class Regularizer(Configurable):
    """Base class of regularizers: override `__call__`, which returns one number for a variable.

    Raises OptionError from each class here, if an option has a value that it doesn't accept, such as a negative factor.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> class Positive(nn.regularizers.Regularizer):
    ...     def __call__(self, x):
    ...         return np.sum(np.maximum(-x, 0))
    >>> layer = nn.Dense(1, kernel_initializer=nn.initializers.Constant(-2.0), kernel_regularizer=Positive())
    >>> layer.build((None, 3))
    >>> layer.losses
    [Tensor(6.0, dtype=float32)]
    """

    def __call__(self, x: Any) -> Any:  # noqa: ARG002 (as of subclasses)
        """Return the penalty for a variable, a Tensor or float; 0 in the base class."""
        return 0.0


class L1L2(Regularizer):
    """``l1`` times the sum of absolute values, plus ``l2`` times the sum of squares.

    Parameters
    ----------
    l1, l2 : float, optional
        The factors of the absolute values and of the squares; not negative. None means 0.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.regularizers.L1L2(l1=0.5, l2=0.25)([1.0, -2.0])
    Tensor(2.75, dtype=float32)
    """

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1 = number(0.0 if l1 is None else l1, "l1", 0)
        self.l2 = number(0.0 if l2 is None else l2, "l2", 0)

    def __call__(self, x: Any) -> Any:
        """Return ``l1 * sum(abs(x)) + l2 * sum(x**2)``, in the dtype of `x`."""
        x = as_tensor(real_numbers(x, what="regularized values"))
        # Factors of 0 add no operations to the tape.
        terms = []
        if self.l1:
            terms.append(self.l1 * np.sum(np.abs(x)))
        if self.l2:
            terms.append(self.l2 * np.sum(np.square(x)))
        return sum(terms[1:], terms[0]) if terms else as_tensor(x.dtype.type(0))


class L1(Regularizer):
    """The sum of absolute values, times a factor.

    Parameters
    ----------
    l1 : float, optional
        The factor, not negative.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.regularizers.L1(0.5)([1.0, -2.0])
    Tensor(1.5, dtype=float32)
    """

    def __init__(self, l1: float | None = 0.01) -> None:
        self.l1 = number(0.01 if l1 is None else l1, "l1", 0)

    def __call__(self, x: Any) -> Any:
        """Return ``l1 * sum(abs(x))``, in the dtype of `x`."""
        return self.l1 * np.sum(np.abs(as_tensor(real_numbers(x, what="regularized values"))))


class L2(Regularizer):
    """The sum of squares, times a factor.

    Parameters
    ----------
    l2 : float, optional
        The factor, not negative.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.regularizers.L2(0.5)([1.0, -2.0])
    Tensor(2.5, dtype=float32)
    """

    def __init__(self, l2: float | None = 0.01) -> None:
        self.l2 = number(0.01 if l2 is None else l2, "l2", 0)

    def __call__(self, x: Any) -> Any:
        """Return ``l2 * sum(x**2)``, in the dtype of `x`."""
        return self.l2 * np.sum(np.square(as_tensor(real_numbers(x, what="regularized values"))))


class OrthogonalRegularizer(Regularizer):
    """The mean absolute cosine between all pairs of rows, or columns, of a matrix, times a factor.

    Parameters
    ----------
    factor : float, optional
        Not negative.
    mode : {'rows', 'columns'}, optional
        The vectors that should become orthogonal.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.regularizers.OrthogonalRegularizer(0.5)([[1.0, 0.0], [2.0, 0.0]])
    Tensor(0.5, dtype=float32)
    """

    def __init__(self, factor: float = 0.01, mode: str = "rows") -> None:
        self.factor = number(factor, "factor", 0)
        self.mode = choice(mode, "mode", ("rows", "columns"))

    def __call__(self, x: Any) -> Any:
        """Return the mean over all pairs, or 0 for a single vector, in the dtype of `x`."""
        x = as_tensor(real_numbers(x, what="regularized values"))
        if x.ndim != 2:
            raise ShapeError(
                f"an orthogonal regularizer takes a matrix, not the shape {x.shape}: regularize the kernel of a dense "
                "layer"
            )
        rows = x if self.mode == "rows" else x.T
        length = rows.shape[0]
        # l2_normalize divides by the root of max(sum of squares, minimum). In float16, epsilon() ** 2 rounds to 0,
        # and a row of zeros would give nan: so the minimum is at least the smallest normal number.
        minimum = max(epsilon() ** 2, float(np.finfo(x.dtype).tiny))
        rows = l2_normalize(rows, -1, minimum)
        cosines = np.abs(rows @ rows.T) * (1 - np.eye(length, dtype=x.dtype))
        return np.sum(cosines) * (self.factor / max(length * (length - 1), 1))


l1 = L1
l2 = L2
l1_l2 = L1L2
orthogonal_regularizer = OrthogonalRegularizer

_TABLE: dict[str, Any] = {
    "L1": L1, "L2": L2, "L1L2": L1L2, "OrthogonalRegularizer": OrthogonalRegularizer, "l1": L1,
    "l2": L2, "l1l2": L1L2, "l1_l2": L1L2, "orthogonal_regularizer": OrthogonalRegularizer,
}  # fmt: skip


def get(identifier: Any) -> Any:
    """Look up the regularizer for `identifier`: a name, a class, an object or a function. None stays None here.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.regularizers.get("l2")([1.0, -2.0])), 4)
    0.05
    """
    return None if identifier is None else find(identifier, _TABLE, "a regularizer")
