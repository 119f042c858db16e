"""Metric: a number that is computed over many batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.recording import is_silent, silence
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn import initializers
from tapemagic.nn.config import float_name
from tapemagic.nn.module import unique_name


def _silently(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method during which no tape records."""

    @wraps(method)
    def unrecorded(*args: Any, **kwargs: Any) -> Any:
        if is_silent():  # called by another such method
            return method(*args, **kwargs)
        with silence():
            return method(*args, **kwargs)

    return unrecorded


class Metric:
    """Base class of metrics: write `update_state`, which adds a batch to the variables, and `result`.

    Tapes record nothing of either.

    Parameters
    ----------
    dtype : {'float32', 'float64', 'float16'}, optional
        Of the variables; `nn.config.floatx` if left out.
    name : str, optional
        The name in reports and in the history of training. Left out, it is made of the name of the class.

    Raises
    ------
    DtypeError
        If `dtype` is another one.
    OptionError
        If `name` is no text.

    Examples
    --------
    >>> from tapemagic import nn
    >>> class Wrong(nn.metrics.Metric):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.number = self.add_variable((), "zeros", name="number")
    ...
    ...     def update_state(self, y_true, y_pred, sample_weight=None):
    ...         self.number.assign_add(np.sum(np.not_equal(y_true, y_pred)))
    ...
    ...     def result(self):
    ...         return self.number.read_value()
    >>> wrong = Wrong(name="wrong")
    >>> wrong([1, 2, 3], [1, 2, 0])
    Tensor(1.0, dtype=float32)
    >>> wrong([1, 2, 3], [0, 0, 0])
    Tensor(4.0, dtype=float32)
    """

    def __init__(self, dtype: DTypeLike | None = None, name: str | None = None) -> None:
        if not isinstance(name, str | None):
            raise OptionError(f"a name is text, not {name!r}: write name='accuracy'")
        self.name = name or unique_name(type(self).__name__)
        self._dtype = float_name(dtype)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in {"update_state", "result", "reset_state"} & vars(cls).keys():
            setattr(cls, name, _silently(vars(cls)[name]))

    @property
    def dtype(self) -> str:
        """The name of the dtype of the variables."""
        return self._dtype

    def add_variable(
        self,
        shape: tuple[int, ...] = (),
        initializer: Any = "zeros",
        dtype: DTypeLike | None = None,
        name: str = "variable",
    ) -> Variable:
        """Make a variable of this metric; assign it to an attribute, so that the metric finds it.

        Parameters
        ----------
        shape : tuple of int, optional
        initializer : str, callable or Initializer, optional
        dtype : dtype, optional
            The metric's own if left out.
        name : str, optional

        Returns
        -------
        Variable
            Not trainable.
        """
        dtype = self._dtype if dtype is None else dtype
        value = initializers.get(initializer)(tuple(shape), dtype=dtype)
        return Variable(value, trainable=False, name=f"{self.name}/{name}", dtype=dtype)

    add_weight = add_variable

    @property
    def variables(self) -> list[Variable]:
        """The variables among the attributes, and those of metrics among them, in the order of assignment."""
        return list(_variables(vars(self).values()))

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Add a batch, given as targets, predictions and sample weights."""
        raise NotImplementedError(
            f"{type(self).__name__} cannot be updated yet: give it a method "
            "update_state(self, y_true, y_pred, sample_weight=None)"
        )

    def result(self) -> Any:
        """The number for all batches since the last `reset_state`."""
        raise NotImplementedError(
            f"{type(self).__name__} has no result yet: give it a method result(self)"
        )

    def reset_state(self) -> None:
        """Begin anew: all variables become 0."""
        with silence():
            for variable in self.variables:
                variable.assign(np.zeros(variable.shape, variable.dtype), read_value=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch, and return the result for all of them.

        Parameters
        ----------
        *args, **kwargs
            As of `update_state`.

        Returns
        -------
        Tensor
        """
        self.update_state(*args, **kwargs)
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def require_columns(name: str, columns: int, y_pred: Any) -> None:
    """Raise an error for a batch with another number of outputs than the first one had.

    Raises
    ------
    ShapeError
    """
    if y_pred.shape[1] != columns:
        raise ShapeError(
            f"the metric {name!r} counts {columns} outputs since its first batch, and got predictions of the shape "
            f"{y_pred.shape}: make another metric for them"
        )


def _variables(parts: Any) -> Iterator[Variable]:
    for part in parts:
        if isinstance(part, Variable):
            yield part
        elif isinstance(part, Metric):
            yield from part.variables
        elif isinstance(part, list | tuple):
            yield from _variables(part)
