"""MonitorCallback: the base class of callbacks that monitor a value for improvement."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

from tapemagic.errors import OptionError
from tapemagic.nn.callbacks.callback import Callback

_MORE = re.compile(r"acc|auc|precision|recall|f1|fbeta|iou|r2|similarity|true_|_at_")
_LESS = re.compile(r"loss|error|ma?p?s?l?e$|entropy|hinge|divergence|poisson|false_|logcosh|huber")


class MonitorCallback(Callback):
    """Base class of callbacks that monitor one of the values in the logs.

    Raises OptionError from every callback, if an option has a value that it doesn't accept.

    Parameters
    ----------
    monitor : str
        The name of the value, such as "val_loss".
    mode : {'auto', 'min', 'max'}
        The direction of improvement. "auto" derives it from the name: up for accuracies, down for losses and errors.
    min_delta : float
        The minimum change that counts as an improvement.
    verbose : {0, 1}, optional
        Print a line for each action.
    """

    def __init__(self, monitor: str = "val_loss", mode: str = "auto", min_delta: float = 0) -> None:
        if mode not in {"auto", "min", "max"}:
            raise OptionError(f"mode must be 'auto', 'min' or 'max', not {mode!r}")
        self.monitor = monitor
        self.mode = mode
        self.min_delta = abs(min_delta)
        self.best: float | None = None

    @property
    def more_is_better(self) -> bool:
        """True if larger values are better. Raises OptionError if "auto" can't tell."""
        # Keras compares the name with those of the compiled metrics; names of custom metrics need the words below.
        if self.mode != "auto":
            return self.mode == "max"
        name = self.monitor.lower()
        if bool(_MORE.search(name)) == bool(_LESS.search(name)):
            raise OptionError(
                f"{type(self).__name__} can't tell whether larger or smaller values of {self.monitor!r} are better: "
                "write mode='max' or mode='min'"
            )
        return bool(_MORE.search(name))

    def is_better(self, value: float, than: float | None) -> bool:
        """Return True if `value` beats another value by more than `min_delta`, or if there is no other value."""
        if than is None:
            return True
        return (
            value - self.min_delta > than if self.more_is_better else value + self.min_delta < than
        )

    def value_in(self, logs: Mapping[str, Any] | None) -> float | None:
        """Return the monitored value, or warn and return None if the logs lack this value."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            listed = ", ".join(map(repr, logs or {})) or "nothing"
            advice = "pass validation_data to fit, or " if self.monitor.startswith("val_") else ""
            warnings.warn(
                f"{type(self).__name__} monitors {self.monitor!r}, which is missing: the logs have {listed}; {advice}"
                "choose one of these as monitor=",
                stacklevel=2,
            )
        return None if value is None else float(value)
