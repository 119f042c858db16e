"""A bar that shows how far an epoch is, and a line of text for each epoch when it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from tapemagic.engine.runtime import is_interactive
from tapemagic.nn.callbacks.callback import Callback, Logs

PATIENCE = 0.5
"""The seconds after which a bar appears: shorter work needs none."""

INTERVAL = 0.1
"""The least number of seconds between two changes of the bar."""

LINES = 20
"""The number of lines to which those of many epochs are thinned out, if nothing else is wanted."""

WIDTH = 100
"""The width of a bar where that of the window is not known, as in notebooks."""

BAR = "{desc}: {percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
COUNT = "{desc}: {n_fmt} [{elapsed}{postfix}]"
"""The texts of a bar, and of a count where the end is not known."""


class Bar(tqdm):  # type: ignore[misc]
    """A bar without a thread of its own that watches it."""

    monitor_interval = 0


def described(logs: Mapping[str, Any]) -> str:
    """The loss and the metrics as text.

    Examples
    --------
    >>> described({"loss": 0.123456, "accuracy": 0.9})
    'loss: 0.1235 - accuracy: 0.9000'
    """
    return " - ".join(f"{name}: {_number(value)}" for name, value in logs.items())


def _number(value: Any) -> str:
    try:
        size = abs(float(value))
    except (TypeError, ValueError):
        return str(value)
    return f"{float(value):.4f}" if size >= 1e-3 or not size else f"{float(value):.4e}"


def round_number(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is at least as large.

    Examples
    --------
    >>> round_number(0.5), round_number(3), round_number(500)
    (1, 5, 500)
    """
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


class Progress(Callback):
    """Show the progress of `fit` or `evaluate`.

    Parameters
    ----------
    verbose : 'auto', 1 or 2
        1 for a bar, while somebody watches, and a line for each epoch; 2 for the lines alone. "auto" is 1 with fewer
        lines for many epochs.

    Notes
    -----
    The bar is rubbed out before a line is printed, and lines have no times in them, so that the same program prints the
    same text.
    """

    def __init__(self, verbose: Any) -> None:
        self.verbose = verbose
        self._bar: Any = None
        self._every = 1
        self._epochs = 1
        self._epoch = 0
        self._title = ""
        self._testing = self._training = False

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Decide how many lines there will be."""
        self._training = True
        self._epochs = self.params["epochs"]
        many = self._epochs - self.params.get("initial_epoch", 0)
        self._every = (
            round_number(many / LINES) if self.verbose == "auto" and many > 2 * LINES else 1
        )
        self._start()

    def _start(self) -> None:
        self._stream = sys.stdout
        self._live = self.verbose != 2 and is_interactive(self._stream)
        self._next = time.perf_counter() + PATIENCE if self._live else float("inf")
        self._began = time.time()

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Keep the number of the epoch."""
        self._epoch = epoch
        self._title = f"Epoch {epoch + 1}/{self._epochs}"
        if self._every == 1:
            self._began = time.time()

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Move the bar, if the last time is long enough ago."""
        if time.perf_counter() >= self._next:
            self._show(batch + 1, logs or {})

    def _show(self, done: int, logs: Mapping[str, Any]) -> None:
        """Show a number of batches; of many epochs, that of epochs."""
        many = self._training and self._every > 1
        if self._bar is None:
            in_terminal = self._stream.isatty()
            total = self._epochs if many else self.params["steps"]
            self._bar = Bar(
                total=total,
                file=self._stream,
                leave=False,
                ncols=None if in_terminal else WIDTH,
                dynamic_ncols=in_terminal,
                bar_format=BAR if total else COUNT,
                delay=PATIENCE,
            )
            self._bar.delay = 0
            self._bar.start_t = self._began
        self._bar.n = self._epoch if many else done
        self._bar.set_description_str(self._title, refresh=False)
        self._bar.set_postfix_str(described(logs), refresh=False)
        self._bar.refresh()
        self._next = time.perf_counter() + INTERVAL

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Print the line of an epoch."""
        last = epoch + 1 == self._epochs or self.model.stop_training
        if (epoch + 1) % self._every == 0 or last:
            self._print(f"Epoch {epoch + 1}/{self._epochs} - {described(logs or {})}")

    def on_test_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Begin a bar for an evaluation; that of a validation goes on in the epoch's."""
        if not self._training:
            self._title = "Evaluate"
            self._start()

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Move the bar of an evaluation."""
        if not self._training and time.perf_counter() >= self._next:
            self._show(batch + 1, logs or {})

    def on_test_end(self, logs: Any = None) -> None:
        """Print the line of an evaluation."""
        if not self._training:
            self._print(described(logs or {}))

    def _print(self, line: str) -> None:
        self.close()
        print(line, file=self._stream)

    def close(self) -> None:
        """Rub out the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
            self._next = time.perf_counter() + INTERVAL
