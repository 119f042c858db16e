"""Monitor: the base class of callbacks that watch one number for improvement."""

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
    """Base class of callbacks that watch one of the numbers in the logs.

    Parameters
    ----------
    monitor : str
        Its name, such as "val_loss".
    mode : {'auto', 'min', 'max'}
        Whether less or more is better. "auto" tells it by the name: more of accuracies, less of losses and errors.
    min_delta : float
        By how much it has to get better to count.
    """

    def __init__(self, monitor: str = "val_loss", mode: str = "auto", min_delta: float = 0) -> None:
        if mode not in {"auto", "min", "max"}:
            raise OptionError(f"mode is 'auto', 'min' or 'max', not {mode!r}")
        self.monitor = monitor
        self.mode = mode
        self.min_delta = abs(min_delta)
        self.best: float | None = None

    @property
    def more_is_better(self) -> bool:
        """Whether larger numbers are better.

        Raises
        ------
        OptionError
            If the mode is "auto", and the name does not tell.
        """
        if self.mode != "auto":
            return self.mode == "max"
        name = self.monitor.lower()
        if bool(_MORE.search(name)) == bool(_LESS.search(name)):
            raise OptionError(
                f"{type(self).__name__} cannot tell whether more or less of {self.monitor!r} is better: give "
                "mode='max' or mode='min'"
            )
        return bool(_MORE.search(name))

    def is_better(self, value: float, than: float | None) -> bool:
        """Whether a number is better than another one, by more than `min_delta`; always, if there is none."""
        if than is None:
            return True
        return (
            value - self.min_delta > than if self.more_is_better else value + self.min_delta < than
        )

    def value_in(self, logs: Mapping[str, Any] | None) -> float | None:
        """The number to watch; None, with a warning, if it is not there."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            listed = ", ".join(map(repr, logs or {})) or "nothing"
            advice = "give validation_data to fit, or " if self.monitor.startswith("val_") else ""
            warnings.warn(
                f"{type(self).__name__} watches {self.monitor!r}, which is not there: the logs hold {listed}; {advice}"
                "choose one of these as monitor=",
                stacklevel=2,
            )
        return None if value is None else float(value)
