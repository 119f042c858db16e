"""Sum and mean over many batches, and the mean of a function's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import ShapeError
from tapemagic.nn.attached_masks import with_mask
from tapemagic.nn.conversions import as_array, real_numbers
from tapemagic.nn.identifiers import snake_case
from tapemagic.nn.losses.arguments import same_rank
from tapemagic.nn.losses.reduction import divide_no_nan
from tapemagic.nn.metrics.metric import Metric
from tapemagic.nn.object_configs import serialize_keras_object


def numbers(x: Any, dtype: Any = None, what: str = "predictions") -> Any:
    """Convert real numbers to a bare array."""
    return as_array(real_numbers(x, dtype, what))


class Sum(Metric):
    """The sum of all values, times their weights.

    Examples
    --------
    >>> from tapemagic import nn
    >>> total = nn.metrics.Sum()
    >>> total.update_state([1.0, 3.0])
    >>> total([5.0], sample_weight=[0.5])
    Tensor(6.5, dtype=float32)
    """

    def __init__(self, name: str = "sum", dtype: DTypeLike | None = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable(name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Add values of any shape, with weights for their first axes."""
        values, _ = _by_sample(values, sample_weight, np.sum, self.dtype)
        self.total.assign_add(np.sum(values), read_value=False)

    def result(self) -> Any:
        """Return the sum, or 0 before the first batch."""
        return self.total.read_value()


class Mean(Metric):
    """The mean of all values, with weights.

    Examples
    --------
    >>> from tapemagic import nn
    >>> mean = nn.metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> mean(5.0)
    Tensor(3.0, dtype=float32)
    """

    def __init__(self, name: str = "mean", dtype: DTypeLike | None = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable(name="total")
        self.count = self.add_variable(name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Add values of any shape.

        Parameters
        ----------
        values : array_like
            Values along all axes except the first are averaged, and count once.
        sample_weight : array_like, optional
            Weights for the first axes of the values. With a single number, all values are averaged, and count once.
        """
        values, weights = _by_sample(values, sample_weight, np.mean, self.dtype)
        if values.size:
            number = values.shape[0] if values.ndim else 1
            self.total.assign_add(np.sum(values), read_value=False)
            self.count.assign_add(number if weights is None else np.sum(weights), read_value=False)

    def result(self) -> Any:
        """Return the mean, or 0 before the first batch."""
        # The usual case without two np.where: fit reads the results after every batch.
        if unwrap(self.count):
            return self.total / self.count
        return divide_no_nan(self.total, self.count)


class MeanMetricWrapper(Mean):
    """The mean of the results of a function of targets and predictions.

    Parameters
    ----------
    fn : callable
        Called with the unchanged targets and predictions. It returns a number for each example.
    **kwargs
        Passed to the function.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> metric = nn.metrics.MeanMetricWrapper(lambda y_true, y_pred: np.abs(y_true - y_pred), name="gap")
    >>> metric(np.array([1.0, 2.0]), np.array([1.0, 5.0]))
    Tensor(1.5, dtype=float32)
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        default_name = getattr(fn, "name", None) or snake_case(
            getattr(fn, "__name__", type(fn).__name__)
        )
        super().__init__(name or default_name, dtype)
        self._fn = fn
        self._options = kwargs

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal metric."""
        config = super().get_config()
        if "fn" in config:  # a subclass passes its own function
            config |= serialize_keras_object({"fn": self._fn, **self._options})
        return config

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add a batch of targets, predictions and sample weights."""
        weights = with_mask(sample_weight, y_pred, self.dtype, "sum")
        super().update_state(self._fn(y_true, y_pred, **self._options), weights)


def _by_sample(values: Any, sample_weight: Any, reduce: Any, dtype: str) -> tuple[Any, Any]:
    """Return weighted values, and weights, reduced along all axes except the first."""
    values = numbers(values, dtype, "values")
    if not values.size:
        return values, None
    weights = None
    if sample_weight is not None:
        weights = numbers(sample_weight, dtype, "sample weights")
        values, weights = same_rank(values, weights)
        values, weights = _weighted(values, weights, reduce)
    return _first_axis(values, reduce), weights


def _weighted(values: Any, weights: Any, reduce: Any) -> tuple[Any, Any]:
    """Return values times weights, reduced to the rank of the weights."""
    # One weight per example: the values of an example are reduced first, as in Keras's reduce_to_samplewise_values.
    if values.ndim > weights.ndim:
        values = reduce(values, axis=tuple(range(weights.ndim, values.ndim)))
    try:
        spread = np.broadcast_to(weights, values.shape)
    except ValueError:
        raise ShapeError(
            f"sample weights of the shape {weights.shape} don't fit values of the shape {values.shape}: pass one "
            "weight for each of them"
        ) from None
    return values * spread, _first_axis(spread, reduce)


def _first_axis(x: Any, reduce: Any) -> Any:
    return reduce(x, axis=tuple(range(1, x.ndim))) if x.ndim > 1 else x
