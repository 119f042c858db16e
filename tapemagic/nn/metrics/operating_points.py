"""The best value of one rate of right decisions among the thresholds where another rate is large enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.errors import OptionError
from tapemagic.nn.losses.reduction import divide_no_nan
from tapemagic.nn.metrics.decisions import Decisions
from tapemagic.nn.metrics.thresholds import Counts


class _OperatingPoint(Decisions):
    """The largest value of the rate `maximized` among the thresholds where the rate `bounded` is at least a bound.

    Parameters
    ----------
    specificity, sensitivity, recall, precision : float
        The bound, from 0 to 1.
    num_thresholds : int, optional
        The number of thresholds, evenly spaced from 0 to 1.
    class_id : int, optional
        Only this class counts.
    """

    maximized: str
    bounded: str

    def __init__(
        self,
        value: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if not 0 <= value <= 1:
            raise OptionError(f"{self.bounded} must be a share from 0 to 1, not {value!r}")
        if num_thresholds < 1:
            raise OptionError(f"num_thresholds must be at least 1, not {num_thresholds!r}")
        self.value = value
        self.num_thresholds = num_thresholds
        even = (
            [n / (num_thresholds - 1) for n in range(num_thresholds)]
            if num_thresholds > 1
            else [0.5]
        )
        super().__init__(Counts._fields, even, class_id=class_id, name=name, dtype=dtype)

    def result(self) -> Any:
        """Return the largest rate, or 0 if the other rate is never large enough."""
        # The maximum over all thresholds that satisfy the bound, as in Keras: precision isn't monotonic in the
        # threshold, so the first threshold that satisfies it needn't be the best.
        enough = self._shares(self.bounded) >= self.value
        return np.max(np.where(enough, self._shares(self.maximized), 0))

    def _shares(self, name: str) -> Any:
        a, b = (getattr(self, part).read_value() for part in _SHARES[name])
        return divide_no_nan(a, a + b)


_SHARES = {
    "sensitivity": ("true_positives", "false_negatives"),
    "recall": ("true_positives", "false_negatives"),
    "specificity": ("true_negatives", "false_positives"),
    "precision": ("true_positives", "false_positives"),
}


class SensitivityAtSpecificity(_OperatingPoint):
    """The largest sensitivity at a threshold whose specificity is at least a bound.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.SensitivityAtSpecificity(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8])
    Tensor(0.5, dtype=float32)
    """

    bounded = "specificity"
    maximized = "sensitivity"

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(specificity, num_thresholds, class_id, name, dtype)


class SpecificityAtSensitivity(_OperatingPoint):
    """The largest specificity at a threshold whose sensitivity is at least a bound.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.SpecificityAtSensitivity(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8])
    Tensor(0.66666669, dtype=float32)
    """

    bounded = "sensitivity"
    maximized = "specificity"

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)


class PrecisionAtRecall(_OperatingPoint):
    """The largest precision at a threshold whose recall is at least a bound.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.PrecisionAtRecall(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8])
    Tensor(0.5, dtype=float32)
    """

    bounded = "recall"
    maximized = "precision"

    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(recall, num_thresholds, class_id, name, dtype)


class RecallAtPrecision(_OperatingPoint):
    """The largest recall at a threshold whose precision is at least a bound.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.RecallAtPrecision(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8])
    Tensor(1.0, dtype=float32)
    """

    bounded = "precision"
    maximized = "recall"

    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(precision, num_thresholds, class_id, name, dtype)
