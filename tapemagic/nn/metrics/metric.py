"""Metric: the base class of numbers that are computed over many batches."""

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
from tapemagic.nn.configurable import NOT_PLAIN, Recorded
from tapemagic.nn.module import unique_name


def _silently(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method so that tapes don't record its operations."""

    @wraps(method)
    def unrecorded(*args: Any, **kwargs: Any) -> Any:
        if is_silent():  # called by another method that is decorated
            return method(*args, **kwargs)
        with silence():
            return method(*args, **kwargs)

    return unrecorded


class Metric(Recorded):
    """Base class of metrics: override `update_state`, which adds a batch to the variables, and `result`.

    Tapes don't record these methods. Every metric takes the parameters below.

    Parameters
    ----------
    dtype : {'float32', 'float64', 'float16'}, optional
        The dtype of the variables, by default `nn.config.floatx`.
    name : str, optional
        The name in reports and in the history of training, by default derived from the name of the class.

    Other Parameters
    ----------------
    from_logits : bool, optional
        True if the predictions are logits, without a softmax or sigmoid at the end of the model.
    label_smoothing : float, optional, see `Loss`
    axis : int, optional
        The axis of the classes, or of the vectors.

    Raises
    ------
    DtypeError
        For any other `dtype`.
    OptionError
        From every metric, if an option has a value that the metric doesn't accept.

    Examples
    --------
    >>> import numpy as np
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
            raise OptionError(f"a name must be a string, not {name!r}: write name='accuracy'")
        self.name = name or unique_name(type(self).__name__)
        self._dtype = float_name(dtype)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Also methods of user classes: without this, a metric under a tape would keep every batch in memory.
        for name in {"update_state", "result", "reset_state"} & vars(cls).keys():
            setattr(cls, name, _silently(vars(cls)[name]))

    @property
    def dtype(self) -> str:
        """The name of the dtype of the variables."""
        return self._dtype

    _prefixes_names = True
    """True if the names of variables begin with the metric's name."""

    def add_variable(
        self,
        shape: tuple[int, ...] = (),
        initializer: Any = "zeros",
        dtype: DTypeLike | None = None,
        name: str = "variable",
    ) -> Variable:
        """Create a variable of this metric, which isn't trainable. Assign it to an attribute.

        Parameters
        ----------
        shape : tuple of int, optional
        initializer : str, callable or Initializer, optional
        dtype : dtype, optional
            By default the metric's dtype.
        name : str, optional
        """
        dtype = self._dtype if dtype is None else dtype
        value = initializers.get(initializer)(tuple(shape), dtype=dtype)
        name = f"{self.name}/{name}" if self._prefixes_names else name
        return Variable(value, trainable=False, name=name, dtype=dtype)

    add_weight = add_variable

    @property
    def variables(self) -> list[Variable]:
        """The variables of this metric, and of metrics among its attributes, in the order of assignment."""
        return list(_variables(vars(self).values()))

    def _config_value(self, name: str, default: Any) -> Any:
        # The recorded argument first: attributes such as `thresholds` are lists that were computed from it.
        recorded = self._recorded().get(name, NOT_PLAIN)
        if name in {"name", "dtype"} or (recorded is NOT_PLAIN and name in self._recorded()):
            return super()._config_value(name, default)
        return default if recorded is NOT_PLAIN else recorded

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Add a batch of targets, predictions and optional sample weights."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method update_state(self, y_true, y_pred, sample_weight=None): write one"
        )

    def result(self) -> Any:
        """Return the value for all batches since the last `reset_state`."""
        raise NotImplementedError(f"{type(self).__name__} has no method result(self): write one")

    def reset_state(self) -> None:
        """Reset all variables to 0."""
        with silence():
            for variable in self.variables:
                variable.assign(np.zeros(variable.shape, variable.dtype), read_value=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch with `update_state`, and return the result for all batches."""
        self.update_state(*args, **kwargs)
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def require_columns(name: str, columns: int, y_pred: Any) -> None:
    """Raise ShapeError for a batch whose number of outputs differs from the first batch."""
    if y_pred.shape[1] != columns:
        raise ShapeError(
            f"the first batch of the metric {name!r} had {columns} outputs, and this one has predictions of the shape "
            f"{y_pred.shape}: create another metric for them"
        )


def _variables(parts: Any) -> Iterator[Variable]:
    for part in parts:
        if isinstance(part, Variable):
            yield part
        elif isinstance(part, Metric):
            yield from part.variables
        elif isinstance(part, list | tuple):
            yield from _variables(part)
