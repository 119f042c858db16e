"""Trainer: fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.recording import silence
from tapemagic.engine.scopes import call_named
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import ModelError, NonFiniteError, OptionError
from tapemagic.nn.callbacks.callback import CallbackList
from tapemagic.nn.callbacks.history import History
from tapemagic.nn.callbacks.progress import Progress
from tapemagic.nn.models.batches import (
    ArrayBatches,
    Batches,
    arrays_in,
    is_iterable_data,
    rows_of,
    split,
    unpack_x_y_sample_weight,
)
from tapemagic.nn.models.evaluation import Evaluator
from tapemagic.nn.models.logs import (
    Logs,
    between_steps,
    closed,
    integer_option,
    listed,
    plain_logs,
    verbosity,
    without_own_frames,
)
from tapemagic.nn.models.train_steps import Steps

MANY = 1000
"""The number of steps from which on it pays to make programs of them."""


class Trainer(Evaluator):
    """The part of a model that trains it."""

    history: History | None = None
    stop_training = False

    @without_own_frames
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Mapping[int, float] | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> History:
        """Train the model.

        Parameters
        ----------
        x : array_like or Dask array, list or dict of these, or iterable
            The inputs, with the examples along the first axis; or an iterable of batches, ``(x, y)`` or
            ``(x, y, sample_weight)``, which is iterated anew for each epoch.
        y : array_like or Dask array, list or dict of these, optional
            The targets; none beside an iterable.
        batch_size : int, optional
            The number of examples in a step, 32 if left out; an iterable gives batches as they are.
        epochs : int, optional
            How often to go through the data; with `initial_epoch`, the number of the last one.
        verbose : 'auto', 0, 1 or 2, optional
            0 for nothing, 2 for a line for each epoch, 1 for a bar, too, while somebody watches. "auto" is 1, with
            about 20 lines if there are more than 40 epochs.
        callbacks : list of Callback, optional
        validation_split : float, optional
            The part of the data, taken from their end, that the model is validated with, and not trained.
        validation_data : tuple of (x, y) or (x, y, sample_weight), or iterable, optional
        shuffle : bool, optional
            Whether the examples are in another order in each epoch, drawn from the generator of `nn.random`: of Dask
            arrays another order of the chunks, and of the examples in each.
        class_weight : mapping of int to float, optional
            Weights of examples by the numbers of their classes.
        sample_weight : array_like or Dask array, optional
            The weight of each example in the loss.
        initial_epoch : int, optional
        steps_per_epoch, validation_steps : int, optional
            The number of batches in an epoch, after which the next one goes on.
        validation_batch_size : int, optional
            `batch_size` if left out.
        validation_freq : int or collection of int, optional
            After how many epochs to validate; or the numbers of these epochs, from 1 on.

        Returns
        -------
        History

        Raises
        ------
        ModelError
            If the model is not compiled, or has no loss.
        NonFiniteError
            If the loss or a gradient is not finite. The weights are those before the step.
        NotNumbersError
            If there is text among the data.
        OptionError
            If an option is out of its range, or the data end too early.
        ShapeError
            If the numbers of examples differ, or there are none.

        Notes
        -----
        Of Dask arrays one chunk after the other is computed, by Dask's current scheduler, and cut into batches in
        this process, so that one or two are in memory. A batch that is larger than a chunk is put together here; for
        steps on more data than memory, compute the gradient with `tapemagic.distributed.value_and_grad`, and give it
        to ``optimizer.apply(gradients, variables)``.

        An interrupt ends training after the step under way. The model keeps what it has learned, and, as `history`, the
        epochs that were finished.

        Examples
        --------
        >>> from tapemagic import nn
        >>> x = np.linspace(-1, 1, 64)[:, None]
        >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros")])
        >>> model.compile(nn.optimizers.SGD(0.5), "mse")
        >>> history = model.fit(x, 10 * x + 5, batch_size=64, epochs=60, verbose=0, shuffle=False)
        >>> model.layers[0].kernel.numpy().round(3), model.layers[0].bias.numpy().round(3)
        (array([[10.]], dtype=float32), array([5.], dtype=float32))
        """
        compiled = self.require_compiled("fit")
        if compiled.optimizer is None:
            raise ModelError(f"the model {self.name!r} was compiled without an optimizer")
        epochs = integer_option(epochs, "epochs", 0)
        initial_epoch = integer_option(initial_epoch, "initial_epoch", 0)
        size = integer_option(32 if batch_size is None else batch_size, "batch_size", 1)
        if validation_split and validation_data is None:
            x, y, sample_weight, validation_data = self._split(
                x, y, sample_weight, validation_split
            )
        batches = self._batches(x, y, sample_weight, size, shuffle, steps_per_epoch, class_weight)
        validation = None
        if validation_data is not None:
            validation = self._validation(
                validation_data, validation_batch_size or size, validation_steps
            )
            self._require_alike(batches, validation)
        history = History()
        progress = [Progress(verbosity(verbose))] if verbosity(verbose) else []
        callback_list = CallbackList(
            [*listed(callbacks), history, *progress],
            self,
            epochs=epochs,
            initial_epoch=initial_epoch,
            steps=batches.steps,
            verbose=verbose,
            validates=validation is not None,
        )
        self.history = history
        self.stop_training = False
        with closed(progress), between_steps() as interrupt:
            span = range(initial_epoch, epochs)
            call_named(
                "fit",
                self._epochs,
                span,
                batches,
                validation,
                validation_freq,
                callback_list,
                interrupt,
            )
        return history

    def _epochs(
        self,
        span: range,
        batches: Batches,
        validation: Any,
        validation_freq: Any,
        callback_list: CallbackList,
        interrupt: Callable[[], None],
    ) -> None:
        """Train for some epochs, and validate after those that `validation_freq` says."""
        logs: Logs | None = None
        pays = batches.steps is not None and batches.steps * len(span) >= MANY
        callback_list.call("on_train_begin", None)
        for epoch in span:
            callback_list.call("on_epoch_begin", epoch, None)
            self.reset_metrics()
            epoch_logs = call_named(
                "epoch", self._epoch, batches, callback_list, epoch, interrupt, pays
            )
            if epoch_logs is None:
                break
            logs = epoch_logs
            if validation is not None and _validates(epoch, validation_freq):
                values = self._test(validation, callback_list, interrupt)
                logs.update((f"val_{name}", value) for name, value in values.items())
            callback_list.call("on_epoch_end", epoch, logs)
            interrupt()
            if self.stop_training:
                break
        if getattr(self.optimizer, "use_ema", False) and self.optimizer.built:
            self.optimizer.finalize_variable_values(self.trainable_variables)
        callback_list.call("on_train_end", logs)

    def _epoch(
        self,
        batches: Batches,
        callback_list: CallbackList,
        epoch: int,
        interrupt: Callable[[], None],
        pays: bool = False,
    ) -> Logs | None:
        """Train for an epoch; the results, or None if a callback ended training since the loss was not finite.

        If programs pay, steps on batches of the first one's shape are replayed, once one has built all that is needed.
        """
        shapes = None
        logs: Logs | None = None
        heard = callback_list.hears("on_train_batch_end")
        kept = None if type(self).train_step is Steps.train_step else self._values()
        self._tells_results = heard or not self._has_usual_steps()
        with closing(batches.epoch()) as epoch_batches, self._telling_again():
            for number, (data, rows) in enumerate(epoch_batches):
                callback_list.call("on_train_batch_begin", number, None)
                if pays:
                    batch_shapes = shapes_in(data)
                    shapes = shapes or batch_shapes
                    self._replays = self.optimizer.built and batch_shapes == shapes
                try:
                    with self.unchanged():
                        logs = call_named("train_step", self.train_step, data)
                    if kept is not None:
                        _require_finite_loss(logs, kept)
                except NonFiniteError as error:
                    _locate(error, epoch, number, rows)
                    if not _accepted(callback_list, number, error):
                        raise
                    return None
                if heard:
                    callback_list.call("on_train_batch_end", number, plain_logs(logs))
                interrupt()
                if self.stop_training:
                    break
            if logs is not None and not self._tells_results:
                logs = self.get_metrics_result()
        return plain_logs(logs)

    def _has_usual_steps(self) -> bool:
        """Whether nobody has written anew what a step returns."""
        names = ("train_step", "compute_metrics", "get_metrics_result")
        return all(getattr(type(self), name) is getattr(Steps, name) for name in names)

    @contextmanager
    def _telling_again(self) -> Iterator[None]:
        """After this block, steps return the results of metrics again."""
        try:
            yield
        finally:
            del self._tells_results
            vars(self).pop("_replays", None)

    def _values(self) -> list[tuple[Any, Any]]:
        """The variables of the model and of its optimizer, with copies of their values."""
        optimizer = self.optimizer
        states = optimizer.variables if optimizer is not None else []
        return [(variable, variable.numpy()) for variable in [*self.variables, *states]]

    def _split(
        self, x: Any, y: Any, sample_weight: Any, fraction: float
    ) -> tuple[Any, Any, Any, Any]:
        """Data without their end, and their end as validation data."""
        if x is None or is_iterable_data(x):
            raise OptionError(
                "validation_split divides arrays: give validation_data beside an iterable"
            )
        parts = [
            None if part is None else arrays_in(part, "data") for part in (x, y, sample_weight)
        ]
        first, second = split(parts, fraction)
        return first[0], first[1], first[2], tuple(second)

    def _validation(self, data: Any, batch_size: int, steps: int | None) -> Batches:
        if is_iterable_data(data):
            return self._batches(data, None, None, batch_size, False, steps, None)
        if not isinstance(data, tuple | list) or not 1 <= len(data) <= 3:
            raise OptionError(
                f"validation_data is (x, y) or (x, y, sample_weight), not {shown(data)}: write "
                "validation_data=(x_test, y_test)"
            )
        return self._batches(*unpack_x_y_sample_weight(tuple(data)), batch_size, False, steps, None)

    def _require_alike(self, batches: Batches, validation: Batches) -> None:
        """Try validation data whose examples have another shape than those of training, before training begins."""
        if isinstance(batches, ArrayBatches) and isinstance(validation, ArrayBatches):
            shapes = [
                [array.shape[1:] for array in leaves(part.data[0])]
                for part in (batches, validation)
            ]
            if shapes[0] != shapes[1]:
                with silence():
                    for part in (batches, validation):
                        self(rows_of(part.data[0], slice(1)), training=False)


def shapes_in(data: Any) -> list[Any]:
    """The shapes of the arrays of a batch."""
    return [getattr(x, "shape", None) for x in leaves(data)]


def _require_finite_loss(logs: Any, kept: list[tuple[Any, Any]]) -> None:
    """Raise an error for a loss that is not finite, of a step that a model makes in its own way; undo the epoch."""
    loss = logs.get("loss") if isinstance(logs, Mapping) else None
    if loss is not None and not np.all(np.isfinite(unwrap(loss))):
        for variable, value in kept:
            variable.assign(value, read_value=False)
        raise NonFiniteError(
            f"the loss is {np.asarray(unwrap(loss))}. The model has a train_step of its own, which has changed weights "
            "already: those from before this epoch were put back."
        )


def _locate(error: NonFiniteError, epoch: int, batch: int, rows: Any) -> None:
    """Add to an error the step in which it arose, and the example, if that is known."""
    error.epoch, error.batch = epoch, batch
    which = ""
    if error.row is not None and rows is not None:
        number = rows.start + error.row if isinstance(rows, slice) else rows[error.row]
        which = f", example {number} of the data"
    error.args = (f"in epoch {epoch + 1}, step {batch + 1}{which}: {error}",)


def _accepted(callback_list: CallbackList, batch: int, error: NonFiniteError) -> bool:
    """Whether a callback takes the place of an error for a loss that is not finite."""
    accepted = False
    for callback in callback_list.callbacks:
        if hasattr(callback, "on_nonfinite"):
            callback.on_nonfinite(batch, error)
            accepted = True
    return accepted


def _validates(epoch: int, frequency: Any) -> bool:
    """Whether there is a validation after an epoch."""
    if isinstance(frequency, int):
        return (epoch + 1) % integer_option(frequency, "validation_freq", 1) == 0
    return bool(epoch + 1 in frequency)
