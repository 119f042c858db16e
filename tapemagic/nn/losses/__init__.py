"""Losses: functions of targets and predictions that training makes small."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from tapemagic.nn.identifiers import find, snake_case
from tapemagic.nn.losses.arguments import kind_of_targets
from tapemagic.nn.losses.binary import (
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    binary_crossentropy,
    binary_focal_crossentropy,
)
from tapemagic.nn.losses.categorical import (
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
)
from tapemagic.nn.losses.distributions import (
    KLDivergence,
    Poisson,
    kl_divergence,
    poisson,
)
from tapemagic.nn.losses.hinges import (
    CategoricalHinge,
    Hinge,
    SquaredHinge,
    categorical_hinge,
    hinge,
    squared_hinge,
)
from tapemagic.nn.losses.loss import (
    Loss,
    LossFunctionWrapper,
)
from tapemagic.nn.losses.regression import (
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
)
from tapemagic.nn.losses.robust import (
    Huber,
    LogCosh,
    huber,
    log_cosh,
)
from tapemagic.nn.losses.similarity import (
    CosineSimilarity,
    cosine_similarity,
)
from tapemagic.nn.losses.sparse import (
    SparseCategoricalCrossentropy,
    sparse_categorical_crossentropy,
)

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = kl_divergence
bce = BCE = binary_crossentropy
logcosh = log_cosh

__all__ = [
    "BCE",
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "LossFunctionWrapper",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "bce",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "cosine_similarity",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "kld",
    "kullback_leibler_divergence",
    "log_cosh",
    "logcosh",
    "mae",
    "mape",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "mse",
    "msle",
    "poisson",
    "sparse_categorical_crossentropy",
    "squared_hinge",
]

_TABLE: dict[str, Any] = {
    name: globals()[name] for name in __all__ if name not in {"Loss", "LossFunctionWrapper", "get"}
}
_CLASSES = [thing for thing in _TABLE.values() if isinstance(thing, type)]
_CLASS_OF: dict[Any, Any] = {kind().fn: kind for kind in _CLASSES}
"""The class of losses for each function."""


def get(identifier: Any) -> Any:
    """The loss for a name, a class, an object or a function; None for None.

    Parameters
    ----------
    identifier : str, type, callable or None
        The name of a class, such as "MeanSquaredError", gives an object; that of a function, such as
        "mean_squared_error" or "mse", the function.

    Returns
    -------
    callable or None

    Raises
    ------
    OptionError
        If there is none of that name.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.get("mse") is nn.losses.mean_squared_error
    True
    """
    return None if identifier is None else find(identifier, _TABLE, "a loss")


def as_loss(identifier: Any) -> Loss:
    """The loss for a name, a class, an object or a function, which is averaged over the batch.

    Parameters
    ----------
    identifier : str, type, callable or Loss

    Returns
    -------
    Loss
        For a name, with that name.

    Raises
    ------
    OptionError
        If there is none of that name.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.as_loss("mse")
    <MeanSquaredError name=mse>
    """
    found: Any = find(identifier, _TABLE, "a loss")
    if isinstance(found, Loss):
        return found
    name = identifier if isinstance(identifier, str) else getattr(found, "__name__", "loss")
    kind = _CLASS_OF.get(found) if isinstance(found, FunctionType) else None
    return LossFunctionWrapper(found, name=snake_case(name)) if kind is None else kind(name=name)


def get_for(identifier: Any, y_true: Any, y_pred: Any) -> Loss:
    """The loss for a name in `compile`, where "crossentropy" and "ce" are chosen by the shapes of the data.

    Parameters
    ----------
    identifier : str, type, callable or Loss
    y_true, y_pred : array_like
        A batch of targets and predictions.

    Returns
    -------
    Loss
        As of `as_loss`. "crossentropy" is `BinaryCrossentropy` for one output, `SparseCategoricalCrossentropy` for
        labels that are numbers of classes, and else `CategoricalCrossentropy`.

    Raises
    ------
    OptionError
        If there is none of that name.

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
