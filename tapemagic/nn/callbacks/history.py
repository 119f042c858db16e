"""The course of training, kept in memory and written to a file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tapemagic.nn.callbacks.callback import Callback, Logs


class History(Callback):
    """The losses and metrics of all epochs; `fit` returns one, and the model keeps it as `history`.

    Attributes
    ----------
    history : dict of str to list of float
        For each name, a number for each epoch that was finished.
    epoch : list of int
        The numbers of these epochs, from 0 on.

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
        """Begin anew."""
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keep the numbers of an epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.history = self

    def __repr__(self) -> str:
        return f"<History of {len(self.epoch)} epochs: {', '.join(self.history) or 'nothing'}>"


class CSVLogger(Callback):
    """A file to which each epoch adds a row of comma-separated values.

    Parameters
    ----------
    filename : path
    separator : str, optional
    append : bool, optional
        Whether to go on with a file that is there, in the place of writing a new one.

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
        """Begin a new file, or find the names in one that is there."""
        self._names = None
        if self.append and self.filename.exists():
            with self.filename.open(newline="", encoding="utf-8") as file:
                self._names = next(csv.reader(file, delimiter=self.separator), [""])[1:] or None
        else:
            self.filename.write_text("", encoding="utf-8")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a row; values that the first row did not have are left out, and missing ones are "NA"."""
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
        validates = self.params.get("validates", False)
        return validates and not name.startswith("val_") and f"val_{name}" not in logs
