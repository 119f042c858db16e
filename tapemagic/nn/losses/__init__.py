"""Losses: functions of targets and predictions that training minimizes.

All loss functions share these arguments and errors:

- `y_true`: the targets, an array_like or Tensor of the shape of the predictions, except for a last axis of length 1.
- `y_pred`: the predictions, an array_like or Tensor of shape (..., outputs).
- The result is a Tensor of shape (...), the mean or sum over the last axis, in the dtype of the predictions.
- ShapeError: if the shapes differ. UnsupportedArgumentError: if an argument is complex. NotNumbersError: if an
  argument isn't numeric. OptionError: if an option has a value that the function doesn't accept.

Each class, such as `MeanSquaredError`, averages the function of its name, `mean_squared_error`, over the batch, and
takes the function's options.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.nn.identifiers import find, snake_case
from tapemagic.nn.losses.arguments import kind_of_targets
from tapemagic.nn.losses.binary import BinaryCrossentropy as BinaryCrossentropy
from tapemagic.nn.losses.binary import BinaryFocalCrossentropy as BinaryFocalCrossentropy
from tapemagic.nn.losses.binary import binary_crossentropy as binary_crossentropy
from tapemagic.nn.losses.binary import binary_focal_crossentropy as binary_focal_crossentropy
from tapemagic.nn.losses.categorical import CategoricalCrossentropy as CategoricalCrossentropy
from tapemagic.nn.losses.categorical import (
    CategoricalFocalCrossentropy as CategoricalFocalCrossentropy,
)
from tapemagic.nn.losses.categorical import (
    CategoricalGeneralizedCrossEntropy as CategoricalGeneralizedCrossEntropy,
)
from tapemagic.nn.losses.categorical import (
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
)
from tapemagic.nn.losses.categorical import categorical_crossentropy as categorical_crossentropy
from tapemagic.nn.losses.categorical import (
    categorical_focal_crossentropy as categorical_focal_crossentropy,
)
from tapemagic.nn.losses.categorical import (
    categorical_generalized_cross_entropy as categorical_generalized_cross_entropy,
)
from tapemagic.nn.losses.categorical import (
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from tapemagic.nn.losses.circle_loss import Circle as Circle
from tapemagic.nn.losses.circle_loss import circle as circle
from tapemagic.nn.losses.distributions import KLDivergence as KLDivergence
from tapemagic.nn.losses.distributions import Poisson as Poisson
from tapemagic.nn.losses.distributions import kl_divergence as kl_divergence
from tapemagic.nn.losses.distributions import poisson as poisson
from tapemagic.nn.losses.hinges import CategoricalHinge as CategoricalHinge
from tapemagic.nn.losses.hinges import Hinge as Hinge
from tapemagic.nn.losses.hinges import SquaredHinge as SquaredHinge
from tapemagic.nn.losses.hinges import categorical_hinge as categorical_hinge
from tapemagic.nn.losses.hinges import hinge as hinge
from tapemagic.nn.losses.hinges import squared_hinge as squared_hinge
from tapemagic.nn.losses.loss import Loss as Loss
from tapemagic.nn.losses.loss import LossFunctionWrapper as LossFunctionWrapper
from tapemagic.nn.losses.overlaps import Dice as Dice
from tapemagic.nn.losses.overlaps import Tversky as Tversky
from tapemagic.nn.losses.overlaps import dice as dice
from tapemagic.nn.losses.overlaps import tversky as tversky
from tapemagic.nn.losses.regression import CosineSimilarity as CosineSimilarity
from tapemagic.nn.losses.regression import Huber as Huber
from tapemagic.nn.losses.regression import LogCosh as LogCosh
from tapemagic.nn.losses.regression import MeanAbsoluteError as MeanAbsoluteError
from tapemagic.nn.losses.regression import (
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
)
from tapemagic.nn.losses.regression import MeanSquaredError as MeanSquaredError
from tapemagic.nn.losses.regression import (
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
)
from tapemagic.nn.losses.regression import cosine_similarity as cosine_similarity
from tapemagic.nn.losses.regression import huber as huber
from tapemagic.nn.losses.regression import log_cosh as log_cosh
from tapemagic.nn.losses.regression import mean_absolute_error as mean_absolute_error
from tapemagic.nn.losses.regression import (
    mean_absolute_percentage_error as mean_absolute_percentage_error,
)
from tapemagic.nn.losses.regression import mean_squared_error as mean_squared_error
from tapemagic.nn.losses.regression import (
    mean_squared_logarithmic_error as mean_squared_logarithmic_error,
)

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = kl_divergence
bce = BCE = binary_crossentropy
logcosh = log_cosh

# All functions and classes of this package's modules, under all their names: constants-like aliases such as MSE first,
# then classes, then functions, which is also the order in error messages.
_TABLE: dict[str, Any] = {
    name: value
    for name, value in sorted(vars().items(), key=lambda item: (not item[0].isupper(), item[0]))
    if getattr(value, "__module__", "").startswith(f"{__name__}.")
    and value not in {Loss, LossFunctionWrapper, kind_of_targets}
}
if not TYPE_CHECKING:  # as in `nn.layers`
    __all__ = ["Loss", "LossFunctionWrapper", "get"]
    __all__ += list(_TABLE)

_CLASS_OF: dict[Any, Any] = {kind().fn: kind for kind in _TABLE.values() if isinstance(kind, type)}
"""The class for each loss function."""


def get(identifier: Any) -> Any:
    """Look up the loss for `identifier`: a name, a class, an object or a function. None stays None here.

    The name of a class, such as "MeanSquaredError", yields an object; the name of a function, such as
    "mean_squared_error" or "mse", yields the function.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.get("mse") is nn.losses.mean_squared_error
    True
    """
    return None if identifier is None else find(identifier, _TABLE, "a loss")


def as_loss(identifier: Any) -> Loss:
    """Return a `Loss` object, which averages over the batch, for a name, a class, an object or a function.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.as_loss("mse")
    <MeanSquaredError name=mse>
    """
    loss: Any = find(identifier, _TABLE, "a loss")
    if isinstance(loss, Loss):
        return loss
    # Keras names the loss after the string, so that "mse" is "mse" in logs, and not "mean_squared_error".
    name = identifier if isinstance(identifier, str) else getattr(loss, "__name__", "loss")
    kind = _CLASS_OF.get(loss) if isinstance(loss, FunctionType) else None
    return LossFunctionWrapper(loss, name=snake_case(name)) if kind is None else kind(name=name)


def get_for(identifier: Any, y_true: Any, y_pred: Any) -> Loss:
    """Return the loss for an identifier in `compile`, where the data selects the kind of "crossentropy" or "ce".

    "crossentropy" is `BinaryCrossentropy` for one output, `SparseCategoricalCrossentropy` for class numbers as labels,
    and `CategoricalCrossentropy` otherwise. See `as_loss` for other identifiers.

    Parameters
    ----------
    identifier : str, type, callable or Loss
    y_true, y_pred : array_like
        A batch of targets and predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.losses.get_for("crossentropy", np.zeros(4), np.zeros((4, 10)))
    <SparseCategoricalCrossentropy name=crossentropy>
    """
    if isinstance(identifier, str) and identifier.lower() in {"crossentropy", "ce"}:
        kind = kind_of_targets(np.shape(y_true), np.shape(y_pred))
        return _CROSSENTROPIES[kind](name=identifier)  # type: ignore[no-any-return]
    return as_loss(identifier)


_CROSSENTROPIES: dict[str, Any] = {
    "binary": BinaryCrossentropy,
    "sparse": SparseCategoricalCrossentropy,
    "categorical": CategoricalCrossentropy,
}
