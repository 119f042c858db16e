"""Loss: the base class of functions of targets and predictions that training minimizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.scopes import Scope, call_in_scope, is_observed
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.errors import OptionError
from tapemagic.nn.attached_masks import with_mask
from tapemagic.nn.config import float_name, floatx
from tapemagic.nn.configurable import Recorded
from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.losses.arguments import same_rank
from tapemagic.nn.losses.reduction import MEANS, known_reduction, reduced
from tapemagic.nn.module import unique_name

Reduction = str | None

P = ParamSpec("P")


class Loss(Recorded):
    """Base class of losses: override `call`, which computes one loss for each example.

    Every loss takes the parameters below.

    Parameters
    ----------
    name : str, optional
        The name in reports and messages, by default derived from the name of the class.
    reduction : {'sum_over_batch_size', 'sum', 'mean', 'mean_with_sample_weight', 'none', None}, optional
        How the losses, times the sample weights, are reduced. "sum" adds them. "sum_over_batch_size" and "mean" are
        equivalent: the sum divided by the number of losses. "mean_with_sample_weight" divides by the sum of the
        weights. None and "none" return all losses.
    dtype : {'float32', 'float64', 'float16'}, optional
        The dtype of the computation, by default the dtype of a tensor of predictions, or `nn.config.floatx` for arrays.

    Other Parameters
    ----------------
    from_logits : bool, optional
        True if the predictions are logits, without a softmax or sigmoid at the end of the model.
    label_smoothing : float, optional
        The share, from 0 to 1, of the targets that is spread evenly over the classes.
    axis : int, optional
        The axis of the classes, or the axis of the mean or sum.

    Raises
    ------
    DtypeError
        For any other `dtype`.
    OptionError
        From every loss, if an option has a value that the loss doesn't accept.

    Notes
    -----
    In Keras, a loss without `dtype` computes in float32, also where predictions are tensors in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> class Largest(nn.losses.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return np.max(np.abs(y_true - y_pred), axis=-1)
    >>> loss = Largest()
    >>> loss([[0.0, 1.0], [2.0, 3.0]], [[0.0, 5.0], [0.0, 3.0]])
    Tensor(3.0, dtype=float32)
    """

    def __init__(
        self,
        name: str | None = None,
        reduction: str | None = "sum_over_batch_size",
        dtype: DTypeLike | None = None,
    ) -> None:
        if not isinstance(name, str | None):
            raise OptionError(f"a name must be a string, not {name!r}: write name='loss'")
        self.name = name or unique_name(type(self).__name__)
        self.reduction = known_reduction(reduction)
        self._dtype = None if dtype is None else float_name(dtype)

    @property
    def dtype(self) -> str | None:
        """The name of the dtype of the computation, or None by default."""
        return self._dtype

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Compute one loss for each example, from tensors of one dtype."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method call(self, y_true, y_pred): write one"
        )

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """Compute the losses for targets and predictions, weighted and reduced.

        - `y_true`, `y_pred`: Array_like or Tensor. See `nn.losses`.
        - `sample_weight`: Array_like. A number, or one for each loss; an axis along which the weights are equal may
          have the length 1.

        Returns
        -------
        Tensor
            One number, or all losses without a reduction.
        """
        sample_weight = with_mask(sample_weight, y_pred, floatx(), self.reduction)
        arguments = (*self._arguments(y_true, y_pred), sample_weight)
        if is_observed():
            scope = Scope(self.name, type(self).__name__)
            return call_in_scope(scope, self._reduced, arguments, {})  # type: ignore[no-any-return]
        return self._reduced(*arguments)  # type: ignore[no-any-return]

    def _reduced(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        """Compute, weight and reduce the losses of tensors."""
        losses = self.call(y_true, y_pred)
        sample_weight = with_mask(sample_weight, losses, floatx(), self.reduction)
        return reduced(
            as_tensor(real_numbers(losses, what="losses")), sample_weight, self.reduction
        )

    def _arguments(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        """Convert targets and predictions to tensors of one dtype."""
        y_pred = self._predictions(y_pred)
        return as_tensor(real_numbers(y_true, y_pred.dtype, "targets")), y_pred

    def _predictions(self, y_pred: Any) -> Any:
        """Convert predictions to a tensor in the dtype of the computation."""
        # Unlike Keras, which computes in float32, also for double-precision tensors: see Notes of the class.
        if self._dtype is None and isinstance(y_pred, Traced):
            return real_numbers(y_pred)
        return as_tensor(real_numbers(y_pred, self._dtype or floatx()))

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal loss."""
        config = super().get_config()
        # Keras stores no dtype, and computes in float32.
        if config.get("dtype", ...) is None:
            del config["dtype"]
        return config

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


class LossFunctionWrapper(Loss):
    """A loss that calls a function of targets and predictions.

    Parameters
    ----------
    fn : callable
        Called with targets and predictions, tensors of one dtype and of equal rank, except for a last axis of
        length 1. It returns one loss for each example.
    reduction, name, dtype : optional, see `Loss`
    **kwargs
        Passed to the function.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> def cubes(y_true, y_pred):
    ...     return np.mean(np.abs(y_true - y_pred) ** 3, axis=-1)
    >>> nn.losses.LossFunctionWrapper(cubes)([[0.0], [0.0]], [[1.0], [2.0]])
    Tensor(4.5, dtype=float32)
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.fn = fn
        self._options = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the result of the function."""
        return self.fn(y_true, y_pred, **self._options)

    def _arguments(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        return same_rank(*super()._arguments(y_true, y_pred))


ERRORS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""For each loss function that is a mean along an axis: the function whose results are averaged."""


def averaged(errors: Callable[P, Any]) -> Callable[P, Tensor]:
    """Turn a function of errors into a loss function, their mean along the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> averaged(np.subtract)([3.0, 4.0], [1.0, 1.0])
    np.float64(2.5)
    """

    @wraps(errors)
    def mean(*args: P.args, **kwargs: P.kwargs) -> Any:
        return np.mean(errors(*args, **kwargs), axis=-1)

    ERRORS[mean] = errors
    return mean


class KnownLoss(LossFunctionWrapper):
    """A loss that calls one of this package's functions, which convert their arguments themselves."""

    def _reduced(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        # The mean over a batch of means along an axis equals one mean over all errors, which records one operation
        # instead of two. With sample weights, each example's mean has its own weight.
        errors = ERRORS.get(self.fn)
        if errors is None or sample_weight is not None or self.reduction not in MEANS:
            return super()._reduced(y_true, y_pred, sample_weight)
        return reduced(errors(y_true, y_pred, **self._options), None, self.reduction)

    def _arguments(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        return y_true, self._predictions(y_pred)
