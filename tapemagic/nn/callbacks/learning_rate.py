"""Callbacks that change the learning rate between epochs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.nn.callbacks.callback import Callback, Logs, print_line
from tapemagic.nn.callbacks.monitor import MonitorCallback


class LearningRateScheduler(Callback):
    """Set the learning rate before each epoch by a function.

    Parameters
    ----------
    schedule : callable
        Called with the number of the epoch, counted from 0, and the current learning rate; returns the new rate.
    verbose : {0, 1}, optional
        Print a line for each epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1)])
    >>> model.compile(nn.optimizers.SGD(1.0), "mse")
    >>> halve = nn.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    >>> model.fit(np.zeros((4, 2)), np.zeros(4), epochs=3, verbose=0, callbacks=[halve]).history["learning_rate"]
    [0.5, 0.25, 0.125]
    """

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0) -> None:
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Set the learning rate, or raise OptionError if the function doesn't return a number."""
        before = float(self.model.optimizer.learning_rate)
        try:
            rate = self.schedule(epoch, before)
        except TypeError:  # a function of only the epoch, as Keras allows
            rate = self.schedule(epoch)
        if not isinstance(rate, float | int | np.number):
            raise OptionError(
                f"the schedule must return the learning rate as a number, not {rate!r}"
            )
        self.model.optimizer.learning_rate = float(rate)
        if self.verbose:
            print_line(
                f"Epoch {epoch + 1}: LearningRateScheduler setting learning rate to {float(rate):.6g}."
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Add the learning rate to the history."""
        if logs is not None:
            logs["learning_rate"] = float(self.model.optimizer.learning_rate)


class ReduceLROnPlateau(MonitorCallback):
    """Reduce the learning rate when a value hasn't improved for some epochs.

    Parameters
    ----------
    monitor, mode, min_delta, verbose : optional, see `MonitorCallback`
    factor : float, optional
        The factor of the learning rate, between 0 and 1.
    patience : int, optional
        The number of epochs without improvement after which the learning rate is reduced.
    cooldown : int, optional
        The number of epochs after a reduction that are ignored.
    min_lr : float, optional
        The smallest learning rate.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1, "relu", kernel_initializer="zeros")])
    >>> model.compile(nn.optimizers.SGD(0.5), "mse")
    >>> smaller = nn.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=2)
    >>> history = model.fit(np.ones((4, 1)), np.zeros(4), epochs=5, callbacks=[smaller], verbose=0)
    >>> history.history["learning_rate"]
    [0.5, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if not 0 < factor < 1:
            raise OptionError(
                f"factor must be a number between 0 and 1, not {factor!r}: write factor=0.1"
            )
        super().__init__(monitor, mode, min_delta)
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.on_train_begin()

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Reset the state."""
        self.best = None
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare the value with the best so far."""
        optimizer = self.model.optimizer
        rate = float(optimizer.learning_rate)
        if logs is not None:
            logs["learning_rate"] = rate
        value = self.value_in(logs)
        if value is None:
            return
        # As in Keras, the wait begins anew after the cooldown: noise right after a reduction doesn't count.
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_better(value, self.best):
            self.best = value
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(optimizer, rate, epoch)

    def _reduce(self, optimizer: Any, rate: float, epoch: int) -> None:
        # The learning rate is a float32 Variable: a min_lr of 0.1 must equal the stored 0.1.
        if rate <= np.float32(self.min_lr):
            return
        new = max(rate * self.factor, self.min_lr)
        optimizer.learning_rate = new
        if self.verbose:
            print_line(f"Epoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new:.6g}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0
