"""Losses: functions of targets and predictions that training makes small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapemagic.nn.identifiers import find
from tapemagic.nn.losses.crossentropy import (
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
)
from tapemagic.nn.losses.crossentropy import (
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from tapemagic.nn.losses.loss import Loss as Loss
from tapemagic.nn.losses.loss import LossFunctionWrapper as LossFunctionWrapper
from tapemagic.nn.losses.regression import MeanSquaredError as MeanSquaredError
from tapemagic.nn.losses.regression import mean_squared_error as mean_squared_error

_TABLE: dict[str, Any] = {
    function.__name__: function
    for function in (
        MeanSquaredError,
        SparseCategoricalCrossentropy,
        mean_squared_error,
        sparse_categorical_crossentropy,
    )
} | {"mse": mean_squared_error, "MSE": mean_squared_error}


def get(identifier: Any) -> Callable[..., Any] | None:
    """The loss for a name, a class, an object or a function.

    Raises
    ------
    OptionError
        If there is none of that name.
    """
    if identifier is None:
        return None
    found: Callable[..., Any] = find(identifier, _TABLE, "a loss")
    return found
