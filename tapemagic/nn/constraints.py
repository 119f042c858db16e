"""Constraints: functions that replace a variable after each step of an optimizer, such as by its nonnegative part."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tensor.variable import Variable
from tapemagic.nn.arguments import number
from tapemagic.nn.config import epsilon
from tapemagic.nn.configurable import Configurable
from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.identifiers import find, snake_case

__all__ = [
    "Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm", "get", "max_norm", "min_max_norm", "non_neg",
    "unit_norm",
]  # fmt: skip


class Constraint(Configurable):
    """Base class of constraints: override `__call__`, which returns the new value of a variable.

    Raises OptionError from each class here, if an option has a value that it doesn't accept.

    Examples
    --------
    >>> import numpy as np
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> class Whole(nn.constraints.Constraint):
    ...     def __call__(self, w):
    ...         return np.round(w)
    >>> layer = nn.Dense(1, use_bias=False, kernel_initializer="ones", kernel_constraint=Whole())
    >>> layer.build((None, 1))
    >>> nn.optimizers.SGD(0.3).apply([tm.constant([[3.0]])], layer.variables)
    >>> layer.get_weights()
    [array([[0.]], dtype=float32)]
    """

    def __call__(self, w: Any) -> Any:
        """Return the new value of a variable; the value itself in the base class."""
        return w


class MinMaxNorm(Constraint):
    """Norms between two limits: each vector of weights along `axis` is multiplied by a factor.

    Parameters
    ----------
    min_value, max_value : float, optional
        The limits.
    rate : float, optional
        The share of the way to the limits that one step goes.
    axis : int or sequence of int, optional
        The axes of a vector: 0 for the weights of a unit of `Dense`, [0, 1, 2] for those of a filter of `Conv2D`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.constraints.MinMaxNorm(1.0, 2.0)([[3.0], [4.0]]).numpy().round(3)
    array([[1.2],
           [1.6]], dtype=float32)
    """

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        self.min_value = number(min_value, "min_value", 0)
        self.max_value = number(max_value, "max_value", 0)
        self.rate = number(rate, "rate", 0, 1)
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """Return the weights, each vector times its new norm over its norm."""
        w, norms = _norms(w, self.axis)
        limited = np.clip(norms, self.min_value, self.max_value)
        desired = self.rate * limited + (1 - self.rate) * norms
        return w * (desired / (epsilon() + norms))


class MaxNorm(MinMaxNorm):
    """Norms of at most `max_value`; see `MinMaxNorm`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.constraints.MaxNorm(1.0)([[3.0], [4.0]]).numpy().round(3)
    array([[0.6],
           [0.8]], dtype=float32)
    """

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        super().__init__(0.0, max_value, axis=axis)


class UnitNorm(Constraint):
    """Norms of 1; see `MinMaxNorm` for `axis`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.constraints.UnitNorm()([[3.0], [4.0]]).numpy().round(3)
    array([[0.6],
           [0.8]], dtype=float32)
    """

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """Return the weights, each vector divided by its norm."""
        w, norms = _norms(w, self.axis)
        return w / (epsilon() + norms)


class NonNeg(Constraint):
    """Weights of at least 0.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.constraints.NonNeg()([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """

    def __call__(self, w: Any) -> Any:
        """Return the weights, with 0 instead of negative numbers."""
        return np.maximum(as_tensor(real_numbers(w, what="weights")), 0)


def _norms(w: Any, axis: Any) -> tuple[Any, Any]:
    """Return weights as a tensor, and the norms of their vectors."""
    w = as_tensor(real_numbers(w, what="weights"))
    axes = tuple(axis) if isinstance(axis, list | tuple) else axis
    return w, np.sqrt(np.sum(np.square(w), axis=axes, keepdims=True))


# Keras's other names of the classes.
max_norm, min_max_norm, non_neg, unit_norm = MaxNorm, MinMaxNorm, NonNeg, UnitNorm

_CLASSES = (MaxNorm, MinMaxNorm, NonNeg, UnitNorm)
_TABLE = {name(kind.__name__): kind for kind in _CLASSES for name in (str, snake_case)}


def get(identifier: Any) -> Any:
    """Look up the constraint for `identifier`: a name, a class, an object or a function. None stays None here.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.constraints.get("non_neg")([-1.0]).numpy()
    array([0.], dtype=float32)
    """
    return None if identifier is None else find(identifier, _TABLE, "a constraint")


class ConstrainedVariable(Variable):
    """A variable that optimizers replace by the value of its `constraint` after each step."""

    __slots__ = ("constraint",)

    def __init__(
        self,
        value: Any,
        trainable: bool = True,
        name: str = "Variable",
        dtype: Any = None,
        constraint: Any = None,
    ) -> None:
        super().__init__(value, trainable, name, dtype)
        self.constraint = constraint

    def __deepcopy__(self, memo: Any) -> Variable:
        plain = super().__deepcopy__(memo)
        return ConstrainedVariable(plain, self.trainable, self.name, constraint=self.constraint)

    def __reduce__(self) -> Any:
        _, arguments = super().__reduce__()
        return ConstrainedVariable, (*arguments, None, self.constraint)
