"""History and CSVLogger: the results of all epochs, in memory and in a file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tapemagic.nn.callbacks.callback import Callback, Logs


class History(Callback):
    """The losses and metrics of all epochs. `fit` returns a History and assigns it to `model.history`.

    Attributes
    ----------
    history : dict of str to list of float
        For each name, one number for each finished epoch.
    epoch : list of int
        The numbers of these epochs, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros")])
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(np.zeros((4, 2)), np.ones(4), epochs=2, verbose=0)
    >>> history.epoch, len(history.history["loss"])
    ([0, 1], 2)
    """

    def __init__(self) -> None:
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Reset the list of epochs."""
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Append the results of an epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.history = self

    def __repr__(self) -> str:
        return f"<History of {len(self.epoch)} epochs: {', '.join(self.history) or 'nothing'}>"


class CSVLogger(Callback):
    """Append a row of comma-separated values to a file after each epoch.

    Parameters
    ----------
    filename : path
    separator : str, optional
    append : bool, optional
        Continue an existing file instead of overwriting it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros")])
    >>> model.compile(nn.optimizers.SGD(0.0), "mse")
    >>> with TemporaryDirectory() as folder:
    ...     log = nn.callbacks.CSVLogger(f"{folder}/log.csv")
    ...     model.fit(np.ones((4, 1)), np.ones(4), epochs=2, callbacks=[log], verbose=0)
    ...     print(log.filename.read_text(), end="")
    <History of 2 epochs: loss>
    epoch,loss
    0,1.0
    1,1.0
    """

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        self.filename = Path(filename)
        self.separator = separator
        self.append = append
        self._names: list[str] | None = None

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Create the file, or read the names in an existing file."""
        self._names = None
        if self.append and self.filename.exists():
            with self.filename.open(newline="", encoding="utf-8") as file:
                self._names = next(csv.reader(file, delimiter=self.separator), [""])[1:] or None
        else:
            self.filename.write_text("", encoding="utf-8")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a row: values that the first row didn't have are omitted, and missing values are "NA"."""
        # Keras's format. With validation_freq > 1 the first epoch may have no val_ results, so columns for them are
        # added in advance.
        logs = logs or {}
        rows: list[list[Any]] = []
        if self._names is None:
            self._names = sorted(logs) + [
                f"val_{name}" for name in sorted(logs) if self._validates_later(name, logs)
            ]
            rows.append(["epoch", *self._names])
        rows.append([epoch, *(logs.get(name, "NA") for name in self._names)])
        with self.filename.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=self.separator).writerows(rows)

    def _validates_later(self, name: str, logs: Any) -> bool:
        validates = getattr(self.params, "validates", False)
        return validates and not name.startswith("val_") and f"val_{name}" not in logs
