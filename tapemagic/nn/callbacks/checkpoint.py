"""ModelCheckpoint: write the model or its weights to files during training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tapemagic.errors import OptionError
from tapemagic.nn.callbacks.callback import Logs, print_line
from tapemagic.nn.callbacks.monitor import MonitorCallback
from tapemagic.nn.saving.hdf5 import h5py


class ModelCheckpoint(MonitorCallback):
    """Write a file after each epoch, or after each epoch that is better than all before.

    The file is always complete: it's written under a temporary name, and then renamed.

    Parameters
    ----------
    filepath : path
        Ends in ".keras" for the whole model, which `load_model` reads; in ".weights.h5", with `save_weights_only=True`,
        or in ".npz" for the weights, which `Model.load_weights` reads. The first two need the package h5py. The path
        may contain `{epoch}` and names of the logs, as in `{val_loss:.2f}`, for separate files. Folders are created.
    monitor, mode, verbose : optional, see `MonitorCallback`
    save_best_only : bool, optional
    save_weights_only : bool, optional
        In a ".npz" file, omit the state of the optimizer, without which training can't continue exactly.
    save_freq : 'epoch' or int, optional
        The number of batches between two files.
    initial_value_threshold : float, optional
        The value that the first file must exceed.

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
        endings = (".weights.h5", ".npz") if save_weights_only else (".keras", ".npz")
        if not self.filepath.endswith(endings):
            examples = " or ".join(f"ModelCheckpoint('best{ending}')" for ending in endings)
            raise OptionError(
                f"with save_weights_only={bool(save_weights_only)}, the file must end in {' or '.join(endings)}, not "
                f"{self.filepath!r}: write {examples}"
            )
        if not self.filepath.endswith(".npz"):
            h5py()  # so that a missing package isn't noticed only after the first epoch
        if save_freq != "epoch" and not (isinstance(save_freq, int) and save_freq > 0):
            raise OptionError(
                f"save_freq must be 'epoch' or a number of batches, not {save_freq!r}"
            )
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.best = initial_value_threshold
        self._epoch = self._batches = 0

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Store the number of the epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Write a file after every `save_freq` batches."""
        if self.save_freq == "epoch":
            return
        self._batches += 1
        if self._batches % self.save_freq == 0:
            # Keras's names for file names: batches and epochs are counted from 1 there, from 0 in callbacks.
            self._save({"batch": batch + 1, **(logs or {})})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a file, with `save_best_only` only for the best epoch so far."""
        self._epoch = epoch
        if self.save_freq == "epoch":
            self._save(dict(logs or {}))

    def _save(self, logs: dict[str, Any]) -> None:
        try:
            path = Path(self.filepath.format(epoch=self._epoch + 1, **logs))
        except (KeyError, IndexError, ValueError) as error:
            raise OptionError(
                f"the name {self.filepath!r} can't be formatted with epoch, {', '.join(logs)}: {error}"
            ) from error
        if self.save_best_only and not self._update_best(logs):
            return
        if self.verbose:
            print_line(f"Epoch {self._epoch + 1}: saving model to {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".keras":
            self.model.save(path)
        else:
            self.model.save_weights(path, optimizer=not self.save_weights_only)

    def _update_best(self, logs: dict[str, Any]) -> bool:
        """Compare the monitored value with the best so far; return True if a file should be written."""
        value = self.value_in(logs)
        if value is None:
            # The logs don't have the value, which was warned about: Keras then saves every epoch.
            return True
        if not self.is_better(value, self.best):
            if self.verbose:
                print_line(
                    f"Epoch {self._epoch + 1}: {self.monitor} did not improve from {self.best:.5f}"
                )
            return False
        if self.verbose:
            before = "inf" if self.best is None else f"{self.best:.5f}"
            print_line(
                f"Epoch {self._epoch + 1}: {self.monitor} improved from {before} to {value:.5f}"
            )
        self.best = value
        return True
