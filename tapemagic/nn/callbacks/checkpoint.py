"""ModelCheckpoint: weights written to a file while a model is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tapemagic.errors import OptionError
from tapemagic.nn.callbacks.callback import Logs, say
from tapemagic.nn.callbacks.monitor import MonitorCallback


class ModelCheckpoint(MonitorCallback):
    """Write the weights to a `.npz` file after each epoch, or after those that are better than all before.

    Parameters
    ----------
    filepath : path
        With `{epoch}`, and names in the logs as in `{val_loss:.2f}`, for a file of its own each time. Folders are made.
    monitor : str, optional
        The name of the number that tells what is better.
    verbose : {0, 1}, optional
        Whether to print a line each time.
    save_best_only : bool, optional
    save_weights_only : bool, optional
        Whether to leave out the state of the optimizer, with which training goes on as if it had not been interrupted.
    mode : {'auto', 'min', 'max'}, optional
        Whether less or more is better. "auto" tells it by the name.
    save_freq : 'epoch' or int, optional
        The number of batches between two files.
    initial_value_threshold : float, optional
        What the first one has to exceed.

    Raises
    ------
    OptionError
        If the name of the file does not end in .npz, or `save_freq` is neither "epoch" nor a positive whole number.

    Notes
    -----
    `load_weights` of the model reads the file. It is written beside its place first, and then moved there: what is
    there is always whole.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros")])
    >>> model.compile(nn.optimizers.SGD(0.1), "mse")
    >>> with TemporaryDirectory() as folder:
    ...     best = nn.callbacks.ModelCheckpoint(f"{folder}/best.npz", "loss", save_best_only=True)
    ...     history = model.fit(np.ones((4, 1)), np.ones(4), callbacks=[best], verbose=0)
    ...     model.load_weights(f"{folder}/best.npz")
    >>> model.get_weights()
    [array([[0.2]], dtype=float32), array([0.2], dtype=float32)]
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__(monitor, mode)
        self.filepath = str(filepath)
        if not self.filepath.endswith(".npz"):
            raise OptionError(
                f"weights are written to .npz files, not to {self.filepath!r}: write "
                "ModelCheckpoint('best.weights.npz')"
            )
        if save_freq != "epoch" and not (isinstance(save_freq, int) and save_freq > 0):
            raise OptionError(f"save_freq is 'epoch' or a number of batches, not {save_freq!r}")
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.best = initial_value_threshold
        self._epoch = self._batches = 0

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Keep the number of the epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Write a file after a number of batches, if that is wanted."""
        if self.save_freq == "epoch":
            return
        self._batches += 1
        if self._batches % self.save_freq == 0:
            self._save({"batch": batch + 1, **(logs or {})})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a file, if the epoch is good enough."""
        self._epoch = epoch
        if self.save_freq == "epoch":
            self._save(dict(logs or {}))

    def _save(self, logs: dict[str, Any]) -> None:
        try:
            path = Path(self.filepath.format(epoch=self._epoch + 1, **logs))
        except (KeyError, IndexError, ValueError) as error:
            raise OptionError(
                f"the name {self.filepath!r} cannot be filled from epoch, {', '.join(logs)}: {error}"
            ) from error
        if self.save_best_only and not self._is_best(logs):
            return
        if self.verbose:
            say(f"Epoch {self._epoch + 1}: saving model to {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.model.save_weights(path, optimizer=not self.save_weights_only)

    def _is_best(self, logs: dict[str, Any]) -> bool:
        value = self.value_in(logs)
        if value is None:
            return True
        if not self.is_better(value, self.best):
            if self.verbose:
                say(f"Epoch {self._epoch + 1}: {self.monitor} did not improve from {self.best:.5f}")
            return False
        if self.verbose:
            before = "inf" if self.best is None else f"{self.best:.5f}"
            say(f"Epoch {self._epoch + 1}: {self.monitor} improved from {before} to {value:.5f}")
        self.best = value
        return True
