"""Callbacks that end training: EarlyStopping without improvement, TerminateOnNaN for a nan loss."""

from __future__ import annotations

import math
from typing import Any

from tapemagic.nn.callbacks.callback import Callback, Logs, print_line
from tapemagic.nn.callbacks.monitor import MonitorCallback


class EarlyStopping(MonitorCallback):
    """Stop training when a value hasn't improved for some epochs.

    Parameters
    ----------
    monitor, mode, min_delta, verbose : optional, see `MonitorCallback`
    patience : int, optional
        The number of epochs without improvement after which training stops.
    baseline : float, optional
        A value that improvements must also exceed.
    restore_best_weights : bool, optional
        Restore the weights of the best epoch at the end.
    start_from_epoch : int, optional
        The number of epochs that are ignored at the beginning.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros")])
    >>> model.compile(nn.optimizers.SGD(0.0), "mse")
    >>> stop = nn.callbacks.EarlyStopping("loss", patience=3)
    >>> history = model.fit(np.ones((5, 2)), np.ones(5), epochs=10, verbose=0, callbacks=[stop])
    >>> len(history.epoch)
    4
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self.on_train_begin()

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Reset the state."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = None
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare the value with the best so far."""
        value = self.value_in(logs)
        if value is None or epoch < self.start_from_epoch:
            return
        # The first weights are stored even if no epoch ever improves, for instance beyond a baseline.
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights = self.model.get_weights()
            self.best_epoch = epoch
        # Keras's order: the wait counts first, an improvement resets it, and the first epoch never stops training.
        self.wait += 1
        if self.is_better(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self.is_better(value, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Restore the best weights, with `restore_best_weights`."""
        if self.stopped_epoch and self.verbose:
            print_line(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose:
                print_line(
                    f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}."
                )
            self.model.set_weights(self.best_weights)


class TerminateOnNaN(Callback):
    """Stop training when the loss is nan or infinite.

    Parameters
    ----------
    raise_error : bool, optional
        Raise NonFiniteError, which names the origin, also for gradients that are nan or infinite. The weights keep
        their values from before the step. By default, the weights are those after the step, as in Keras.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> stop = nn.callbacks.TerminateOnNaN(raise_error=True)
    >>> model.fit(np.ones((4, 2)), np.full(4, np.nan), verbose=0, callbacks=[stop])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tapemagic.errors.NonFiniteError: in epoch 1, step 1, example ... of the data: the loss is nan. The data ...
    """

    def __init__(self, raise_error: bool = False) -> None:
        self.raise_error = raise_error

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Stop after a step with such a loss."""
        loss: Any = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            print_line(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True
