"""Callbacks that change the learning rate between epochs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.nn.callbacks.callback import Callback, Logs, say
from tapemagic.nn.callbacks.monitor import MonitorCallback


class LearningRateScheduler(Callback):
    """Set the learning rate before each epoch by a function.

    Parameters
    ----------
    schedule : callable
        Called with the number of the epoch, from 0 on, and the learning rate so far; returns the new one.
    verbose : {0, 1}, optional
        Whether to print a line for each epoch.

    Examples
    --------
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
        """Set the learning rate.

        Raises
        ------
        OptionError
            If the function returns no number.
        """
        before = float(self.model.optimizer.learning_rate)
        try:
            rate = self.schedule(epoch, before)
        except TypeError:  # a function of the epoch alone
            rate = self.schedule(epoch)
        if not isinstance(rate, float | int | np.number):
            raise OptionError(f"the schedule returns the learning rate as a number, not {rate!r}")
        self.model.optimizer.learning_rate = float(rate)
        if self.verbose:
            say(
                f"Epoch {epoch + 1}: LearningRateScheduler setting learning rate to {float(rate):.6g}."
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Put the learning rate into the history."""
        if logs is not None:
            logs["learning_rate"] = float(self.model.optimizer.learning_rate)


class ReduceLROnPlateau(MonitorCallback):
    """Make the learning rate smaller when a number has not become better for some epochs.

    Parameters
    ----------
    monitor : str, optional
        The name of the number.
    factor : float, optional
        By what the learning rate is multiplied; less than 1.
    patience : int, optional
        The number of epochs without improvement after which that is done.
    verbose : {0, 1}, optional
        Whether to print a line each time.
    mode : {'auto', 'min', 'max'}, optional
        Whether less or more is better. "auto" tells it by the name.
    min_delta : float, optional
        By how much it has to get better to count.
    cooldown : int, optional
        The number of epochs after a change that do not count.
    min_lr : float, optional
        The smallest learning rate.

    Examples
    --------
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
                f"factor is a number between 0 and 1, not {factor!r}: write factor=0.1"
            )
        super().__init__(monitor, mode, min_delta)
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.on_train_begin()

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Begin anew."""
        self.best = None
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare the number with the best so far."""
        optimizer = self.model.optimizer
        rate = float(optimizer.learning_rate)
        if logs is not None:
            logs["learning_rate"] = rate
        value = self.value_in(logs)
        if value is None:
            return
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
        if rate <= np.float32(self.min_lr):
            return
        new = max(rate * self.factor, self.min_lr)
        optimizer.learning_rate = new
        if self.verbose:
            say(f"Epoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new:.6g}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0
