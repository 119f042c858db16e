"""Progress: a bar for the current epoch, and a line of text for each finished epoch."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from tapemagic.engine.runtime import is_interactive
from tapemagic.nn.callbacks.callback import Callback, Logs

SECONDS_BEFORE_BAR = 0.5
"""Seconds before a bar appears, so that short work shows none."""

MIN_REFRESH_SECONDS = 0.1
"""Minimum number of seconds between two updates of the bar."""

MAX_AUTO_LINES = 20
"""The number of lines for many epochs with verbose="auto"."""

DEFAULT_WIDTH = 100
"""The width of a bar if the width of the window is unknown, as in notebooks."""

BAR_FORMAT = (
    "{desc}: {percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
)
COUNT_FORMAT = "{desc}: {n_fmt} [{elapsed}{postfix}]"
"""The format of a bar, and of a counter if the number of steps is unknown."""


class Bar(tqdm):  # type: ignore[misc]
    """A tqdm bar without the monitor thread that tqdm starts by default."""

    monitor_interval = 0


def described(logs: Mapping[str, Any]) -> str:
    """Format the loss and the metrics as text.

    Examples
    --------
    >>> described({"loss": 0.123456, "accuracy": 0.9})
    'loss: 0.1235 - accuracy: 0.9000'
    """
    # The loss first, because it's what training minimizes; then the other results, and those of validation.
    names = sorted(
        logs, key=lambda name: (name.startswith("val_"), name.removeprefix("val_") != "loss")
    )
    return " - ".join(f"{name}: {_number(logs[name])}" for name in names)


def _number(value: Any) -> str:
    try:
        size = abs(float(value))
    except (TypeError, ValueError):
        return str(value)
    return f"{float(value):.4f}" if size >= 1e-3 or not size else f"{float(value):.4e}"


def round_number(minimum: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50, ... that isn't less than `minimum`.

    Examples
    --------
    >>> round_number(0.5), round_number(3), round_number(500)
    (1, 5, 500)
    """
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= minimum:
                return digit * power
        power *= 10


class Progress(Callback):
    """Show the progress of `fit` or `evaluate`.

    - `verbose`: 'auto', 1 or 2. 1 shows a bar in interactive sessions, and a line for each epoch; 2 only the lines.
      "auto" is 1 with fewer lines for many epochs.
    """

    # The bar is erased before a line is printed, and lines contain no times, so that stored notebooks stay equal.

    def __init__(self, verbose: Any) -> None:
        self.verbose = verbose
        self._bar: Any = None
        self._every = 1
        self._epochs = 1
        self._epoch = 0
        self._title = ""
        self._testing = self._training = False

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Choose the number of lines."""
        self._training = True
        self._epochs = self.params["epochs"]
        count = self._epochs - getattr(self.params, "initial_epoch", 0)
        self._every = (
            round_number(count / MAX_AUTO_LINES)
            if self.verbose == "auto" and count > 2 * MAX_AUTO_LINES
            else 1
        )
        self._start()

    def _start(self) -> None:
        self._stream = sys.stdout
        # Outside an interactive session, such as under nbconvert or pytest, a bar would fill the output with frames.
        self._live = self.verbose != 2 and is_interactive(self._stream)
        self._next = time.perf_counter() + SECONDS_BEFORE_BAR if self._live else float("inf")
        self._began = time.time()

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Store the number of the epoch."""
        self._epoch = epoch
        self._title = f"Epoch {epoch + 1}/{self._epochs}"
        if self._every == 1:
            self._began = time.time()

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Update the bar, if its last update is long enough ago."""
        if time.perf_counter() >= self._next:
            self._show(batch + 1, logs or {})

    def _show(self, done: int, logs: Mapping[str, Any]) -> None:
        """Show the number of finished batches, or of epochs if only some of their lines are printed."""
        by_epoch = self._training and self._every > 1
        if self._bar is None:
            in_terminal = self._stream.isatty()
            total = self._epochs if by_epoch else self.params["steps"]
            self._bar = Bar(
                total=total,
                file=self._stream,
                leave=False,
                ncols=None if in_terminal else DEFAULT_WIDTH,
                dynamic_ncols=in_terminal,
                bar_format=BAR_FORMAT if total else COUNT_FORMAT,
                delay=SECONDS_BEFORE_BAR,
            )
            # tqdm's `delay` suppresses the first drawing; the bar is shown when refresh() is called below.
            self._bar.delay = 0
            self._bar.start_t = self._began
        self._bar.n = self._epoch if by_epoch else done
        self._bar.set_description_str(self._title, refresh=False)
        self._bar.set_postfix_str(described(logs), refresh=False)
        self._bar.refresh()
        self._next = time.perf_counter() + MIN_REFRESH_SECONDS

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Print the line of an epoch."""
        # The last line is always printed, also if its epoch isn't a multiple: it has the final results.
        last = epoch + 1 == self._epochs or self.model.stop_training
        if (epoch + 1) % self._every == 0 or last:
            self._print(f"Epoch {epoch + 1}/{self._epochs} - {described(logs or {})}")

    def on_test_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Start a bar for an evaluation; a validation continues in the bar of the epoch."""
        if not self._training:
            self._title = "Evaluate"
            self._start()

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Update the bar of an evaluation."""
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
        """Erase the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
            self._next = time.perf_counter() + MIN_REFRESH_SECONDS
