"""Trainer: the method fit."""

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
from tapemagic.errors import ModelError, OptionError
from tapemagic.nn.arguments import integer
from tapemagic.nn.callbacks.callback import CallbackList
from tapemagic.nn.callbacks.early_stopping import TerminateOnNaN
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
    listed,
    plain_logs,
    require_without_effect,
    verbosity,
    without_own_frames,
)
from tapemagic.nn.models.step_guard import Reaction
from tapemagic.nn.models.train_steps import Steps

MIN_STEPS_TO_TRACE = 1000
"""The minimum number of steps for which compiling them pays off.

Tracing takes as long as some hundred steps of a small network.
"""


class Trainer(Evaluator):
    """Mix-in of a model: training."""

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
        **without_effect: Any,
    ) -> History:
        """Train the model.

        Parameters
        ----------
        x : array_like or Dask array, list or dict of these, or iterable
            The inputs, with the examples along the first axis; or an iterable of batches, ``(x, y)`` or
            ``(x, y, sample_weight)``, which is iterated again for each epoch.
        y : array_like or Dask array, list or dict of these, optional
            The targets; omit them if `x` is an iterable.
        batch_size : int, optional
            The number of examples in a step, by default 32; not used for an iterable.
        epochs : int, optional
            The number of passes over the data; with `initial_epoch`, the number of the last epoch.
        verbose : 'auto', 0, 1 or 2, optional
            0 prints nothing, 2 a line per epoch, 1 also a progress bar in an interactive session. "auto" is 1, with
            about 20 lines if there are more than 40 epochs.
        callbacks : list of Callback, optional
        validation_split : float, optional
            The fraction of the examples, taken from the end, that is used for validation and not for training.
        validation_data : tuple of (x, y) or (x, y, sample_weight), or iterable, optional
        shuffle : bool, optional
            Draw a new order of the examples for each epoch from the generator of `nn.random`. Of Dask arrays, shuffle
            the chunks, and the examples within each chunk.
        class_weight : mapping of int to float, optional
            The weight of each example by its class number.
        sample_weight : array_like or Dask array, optional
            The weight of each example in the loss.
        initial_epoch : int, optional
        steps_per_epoch : int, optional
            The number of batches in an epoch; the next epoch continues with the next batch.
        validation_steps : int, optional
            The number of batches in a validation; each validation starts at the beginning of the data. A generator,
            which can't restart, continues.
        validation_batch_size : int, optional
            By default `batch_size`.
        validation_freq : int or collection of int, optional
            Validate after every this many epochs, or after the listed epochs, counted from 1.
        **without_effect
            `workers`, `use_multiprocessing` and `max_queue_size` of Keras 2.

        Returns
        -------
        History

        Raises
        ------
        ModelError
            If the model is not compiled, or has no loss.
        NonFiniteError
            If the loss or a gradient is nan or infinite and `callbacks` has ``TerminateOnNaN(raise_error=True)``. The
            weights keep their values from before the step. Otherwise, a warning names the step and the origin, and
            training continues.
        NotNumbersError
            If the data contains text.
        OptionError
            If an option is out of its range, or the data ends too early.
        ShapeError
            If the numbers of examples differ, or there are no examples.

        Notes
        -----
        Dask's current scheduler computes Dask arrays chunk by chunk, and this process cuts the chunks into batches, so
        that one or two chunks are in memory. A batch that is larger than a chunk is assembled here. For steps on more
        data than memory holds, compute the gradient with `tapemagic.distributed.value_and_grad`, and pass it to
        ``optimizer.apply(gradients, variables)``.

        An interrupt ends training after the current step. The model keeps its weights, and `history` has the finished
        epochs.

        Examples
        --------
        >>> import numpy as np
        >>> from tapemagic import nn
        >>> x = np.linspace(-1, 1, 64)[:, None]
        >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros")])
        >>> model.compile(nn.optimizers.SGD(0.5), "mse")
        >>> history = model.fit(x, 10 * x + 5, batch_size=64, epochs=60, verbose=0, shuffle=False)
        >>> model.layers[0].kernel.numpy().round(3), model.layers[0].bias.numpy().round(3)
        (array([[10.]], dtype=float32), array([5.], dtype=float32))
        """
        require_without_effect("fit", without_effect)
        compiled = self.require_compiled("fit")
        if compiled.optimizer is None:
            raise ModelError(f"the model {self.name!r} was compiled without an optimizer")
        epochs = integer(epochs, "epochs", 0)
        initial_epoch = integer(initial_epoch, "initial_epoch", 0)
        size = integer(32 if batch_size is None else batch_size, "batch_size", 1)
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
            self._try_validation_data(batches, validation)
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
        raises = any(
            isinstance(x, TerminateOnNaN) and x.raise_error for x in callback_list.callbacks
        )
        with closed(progress), compiled.reaction.in_fit(raises), between_steps() as interrupt:
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
        """Train for the epochs in `span`, and validate after those that `validation_freq` selects."""
        logs: Logs | None = None
        pays = batches.steps is not None and batches.steps * len(span) >= MIN_STEPS_TO_TRACE
        callback_list.call("on_train_begin", None)
        for epoch in span:
            callback_list.call("on_epoch_begin", epoch, None)
            self.reset_metrics()
            logs = call_named("epoch", self._epoch, batches, callback_list, epoch, interrupt, pays)
            if validation is not None and _validates(epoch, validation_freq):
                values = self._test(validation, callback_list, interrupt)
                logs.update((f"val_{name}", value) for name, value in values.items())
            callback_list.call("on_epoch_end", epoch, logs)
            interrupt()
            if self.stop_training:
                break
        # As Keras's fit does: the model ends with the moving averages.
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
    ) -> Logs:
        """Train for one epoch, and return its results."""
        # Only batches with the shape of the first batch are replayed: every other shape would need another trace, and
        # the last batch of an epoch is often smaller. The first step runs eagerly, because it builds the variables.
        shapes = None
        logs: Logs | None = None
        has_listeners = callback_list.has_listeners("on_train_batch_end")
        reaction = self.require_compiled("fit").reaction
        # A custom train_step has no guard, so its loss is checked after it has changed weights.
        is_custom = type(self).train_step is not Steps.train_step
        kept = self._values() if is_custom and reaction.raises else []
        self._tells_results = has_listeners or not self._has_usual_steps()
        with closing(batches.epoch()) as epoch_batches, self._telling_again():
            for number, (data, rows) in enumerate(epoch_batches):
                callback_list.call("on_train_batch_begin", number, None)
                if pays:
                    batch_shapes = shapes_in(data)
                    shapes = shapes or batch_shapes
                    self._replays = self.optimizer.built and batch_shapes == shapes
                reaction.position = epoch, number, rows
                with self.unchanged():
                    logs = call_named("train_step", self.train_step, data)
                if is_custom and not reaction.warned:
                    _check_loss(logs, kept, reaction)
                if has_listeners:
                    callback_list.call("on_train_batch_end", number, plain_logs(logs))
                interrupt()
                if self.stop_training:
                    break
            if logs is not None and not self._tells_results:
                logs = self.get_metrics_result()
        return plain_logs(logs)

    def _has_usual_steps(self) -> bool:
        """Return True if no subclass overrides the methods that compute a step's results."""
        names = ("train_step", "compute_metrics", "get_metrics_result")
        return all(getattr(type(self), name) is getattr(Steps, name) for name in names)

    @contextmanager
    def _telling_again(self) -> Iterator[None]:
        """Restore the defaults at the end of the block: steps run eagerly and return the results of metrics."""
        try:
            yield
        finally:
            # The class's default applies again.
            del self._tells_results
            vars(self).pop("_replays", None)

    def _values(self) -> list[tuple[Any, Any]]:
        """Return the variables of the model and its optimizer, with copies of their values."""
        optimizer = self.optimizer
        states = optimizer.variables if optimizer is not None else []
        return [(variable, variable.numpy()) for variable in [*self.variables, *states]]

    def _split(
        self, x: Any, y: Any, sample_weight: Any, fraction: float
    ) -> tuple[Any, Any, Any, Any]:
        """Split data into training data, and validation data from the end."""
        if x is None or is_iterable_data(x):
            raise OptionError(
                "validation_split divides arrays: pass validation_data if x is an iterable"
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
                f"validation_data must be (x, y) or (x, y, sample_weight), not {shown(data)}: write "
                "validation_data=(x_test, y_test)"
            )
        return self._batches(*unpack_x_y_sample_weight(tuple(data)), batch_size, False, steps, None)

    def _try_validation_data(self, batches: Batches, validation: Batches) -> None:
        """Call the model on validation data whose examples are shaped differently, before training begins."""
        # A wrong shape would otherwise raise only after the first epoch, which may take hours.
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
    """Return the shapes of the arrays in a batch."""
    return [getattr(x, "shape", None) for x in leaves(data)]


def _check_loss(logs: Any, kept: list[tuple[Any, Any]], reaction: Reaction) -> None:
    """Warn, or restore the weights in `kept` and raise NonFiniteError, if a custom train_step returned a nan loss."""
    loss = logs.get("loss") if isinstance(logs, Mapping) else None
    if loss is None or np.all(np.isfinite(unwrap(loss))):
        return
    for variable, value in kept:
        variable.assign(value, read_value=False)
    reaction.react(
        f"the custom train_step of the model returned the loss {np.asarray(unwrap(loss))}.",
        "It has already changed weights, so those from before this epoch were restored.",
    )


def _validates(epoch: int, frequency: Any) -> bool:
    """Return True if the model is validated after `epoch`."""
    if isinstance(frequency, int):
        return (epoch + 1) % integer(frequency, "validation_freq", 1) == 0
    return bool(epoch + 1 in frequency)
