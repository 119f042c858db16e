"""TensorBoard: a callback that writes the results of epochs to log files."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.nn.callbacks.callback import Callback, Logs


class TensorBoard(Callback):
    """A callback that writes losses, metrics and weights for TensorBoard, which needs the package tensorboard.

    Results of training are in the folder ``train`` and those of validation in ``validation``, under the names
    "epoch_loss" and so on, as Keras writes them. ``%tensorboard --logdir logs`` shows them in a notebook.

    Raises ImportError without the package.

    Parameters
    ----------
    log_dir : path, optional
    histogram_freq : int, optional
        Write the distribution of each weight after every so many epochs; 0 writes none.
    write_graph, write_images, write_steps_per_second, profile_batch : optional
        Accepted; there is no graph of operations and no profile.
    update_freq : {'epoch', 'batch'} or int, optional
        With "batch" or a number of batches, also write the loss and the metrics as "batch_loss" and so on.
    embeddings_freq, embeddings_metadata : optional
        Only 0 and None.

    Examples
    --------
    >>> from tapemagic import nn
    >>> log = nn.callbacks.TensorBoard("logs")  # doctest: +SKIP
    """

    def __init__(
        self,
        log_dir: Any = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,  # noqa: ARG002 (Keras's signature)
        write_images: bool = False,  # noqa: ARG002
        write_steps_per_second: bool = False,  # noqa: ARG002
        update_freq: Any = "epoch",
        profile_batch: Any = 0,  # noqa: ARG002
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
    ) -> None:
        if embeddings_freq or embeddings_metadata is not None:
            raise OptionError(
                "TensorBoard writes no embeddings here: write np.savetxt('vectors.tsv', weights) for the projector"
            )
        if update_freq not in {"epoch", "batch"} and not isinstance(update_freq, int):
            raise OptionError(
                f"update_freq must be 'epoch', 'batch' or a number of batches, not {update_freq!r}"
            )
        self._files = _files()
        self.log_dir = Path(log_dir)
        self.histogram_freq = histogram_freq
        self.update_freq = {"epoch": 0, "batch": 1}.get(update_freq, update_freq)
        self._writers: dict[str, Any] = {}
        self._batches = 0

    def _write(self, folder: str, name: str, value: Any, step: int) -> None:
        self._add(folder, self._files.scalar(name, float(value)), step)

    def _add(self, folder: str, summary: Any, step: int) -> None:
        if folder not in self._writers:
            self._writers[folder] = self._files.writer(str(self.log_dir / folder))
        event = self._files.event(wall_time=time.time(), step=step, summary=summary)
        self._writers[folder].add_event(event)

    def on_train_begin(self, logs: Logs = None) -> None:  # noqa: ARG002 (Keras's signature)
        """Count batches from 0."""
        self._batches = 0

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:  # noqa: ARG002
        """Write the results of every `update_freq`-th batch."""
        if self.update_freq and self._batches % self.update_freq == 0:
            for name, value in (logs or {}).items():
                self._write("train", f"batch_{name}", value, self._batches)
        self._batches += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the results of an epoch, the learning rate, and every `histogram_freq`-th time the weights."""
        for name, value in (logs or {}).items():
            if name.startswith("val_"):
                self._write("validation", f"epoch_{name.removeprefix('val_')}", value, epoch)
            else:
                self._write("train", f"epoch_{name}", value, epoch)
        optimizer = self.model.optimizer
        if "learning_rate" not in (logs or {}):
            rate = unwrap(optimizer.learning_rate)
            self._write("train", "epoch_learning_rate", rate, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            for weight in self.model.variables:
                name = f"{weight.name.partition(':')[0]}/histogram"
                self._add("train", self._files.histogram(name, weight.numpy()), epoch)
        for writer in self._writers.values():
            writer.flush()

    def on_train_end(self, logs: Logs = None) -> None:  # noqa: ARG002
        """Close the files."""
        for writer in self._writers.values():
            writer.close()
        self._writers = {}


def _files() -> SimpleNamespace:
    """Return tensorboard's functions that write files, which work without TensorFlow."""
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.plugins.histogram.summary_v2 import histogram_pb
        from tensorboard.plugins.scalar.summary_v2 import scalar_pb
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        raise ImportError(
            "callbacks.TensorBoard needs the package tensorboard: write %pip install tensorboard in a cell; or plot "
            "model.fit(...).history with matplotlib"
        ) from error
    return SimpleNamespace(
        event=Event, histogram=histogram_pb, scalar=scalar_pb, writer=EventFileWriter
    )
