"""Trainer: compile, fit, evaluate and predict."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import silence
from tapemagic.engine.scopes import call_named
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import ModelError, NonFiniteError, OptionError
from tapemagic.nn import optimizers
from tapemagic.nn.callbacks.callback import CallbackList
from tapemagic.nn.callbacks.history import History
from tapemagic.nn.callbacks.progress import Progress
from tapemagic.nn.metrics import Metric
from tapemagic.nn.models.batches import (
    ArrayBatches,
    Batches,
    IteratedBatches,
    arrays_in,
    is_iterable_data,
    pack_x_y_sample_weight,
    rows_of,
    split,
    unpack_x_y_sample_weight,
    weights_of_classes,
)
from tapemagic.nn.models.compiled import CompiledLoss, CompiledMetrics, LossTracker
from tapemagic.nn.models.interrupts import between_steps
from tapemagic.nn.models.step import Step
from tapemagic.tape import GradientTape

Logs = dict[str, Any]


class Compiled:
    """What `compile` was given."""

    def __init__(self, optimizer: Any, loss: Any, metrics: CompiledMetrics) -> None:
        self.optimizer = optimizer
        self.loss: CompiledLoss | None = loss
        self.tracker = LossTracker("loss")
        self.metrics = metrics


class Trainer:
    """The part of a model that trains it."""

    history: History | None = None
    stop_training = False
    _compiled: Compiled | None = None

    name: str
    losses: list[Any]
    variables: list[Any]
    trainable_variables: list[Any]

    __call__: Callable[..., Any]

    @property
    def output_names(self) -> list[str] | None:
        """The names of the outputs, if they are known."""
        return None

    @property
    def input_dtype(self) -> Any:
        """The dtype that floating-point inputs are cast to before training; None to leave them as they are."""
        return None

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool = True,  # noqa: ARG002 (Keras's signature)
        steps_per_execution: int = 1,  # noqa: ARG002
        jit_compile: Any = "auto",  # noqa: ARG002
        auto_scale_loss: bool = True,  # noqa: ARG002
    ) -> None:
        """Choose what the model is trained with.

        Parameters
        ----------
        optimizer : str or Optimizer, optional
        loss : str, callable or Loss, or list or dict of such, optional
            Of several outputs, one for all, or one for each, in a list or by their names.
        loss_weights : float, or list or dict of float, optional
            By what the losses of several outputs are multiplied before they are added up.
        metrics : list of str, callable or Metric, or list of lists or dict for several outputs, optional
            "accuracy" means the accuracy that fits the targets and outputs.
        weighted_metrics : optional
            The same for metrics that are given the sample weights, too.
        run_eagerly, steps_per_execution, jit_compile, auto_scale_loss : optional
            Accepted for Keras's sake, and not used: every step is run as it stands.

        Raises
        ------
        OptionError
            If an optimizer, a loss or a metric is unknown.

        Examples
        --------
        >>> from tapemagic import nn
        >>> model = nn.Sequential([nn.Dense(3, activation="softmax")])
        >>> model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        """
        names = self.output_names
        self._compiled = Compiled(
            optimizers.get(optimizer),
            None if loss is None else CompiledLoss(loss, loss_weights, names),
            CompiledMetrics(metrics, weighted_metrics, names),
        )

    @property
    def compiled(self) -> bool:
        """Whether `compile` was called."""
        return self._compiled is not None

    @property
    def optimizer(self) -> Any:
        """The optimizer that was given to `compile`; None before."""
        return self._compiled and self._compiled.optimizer

    @optimizer.setter
    def optimizer(self, optimizer: Any) -> None:
        if self._compiled is None:
            vars(self)["optimizer"] = optimizer
        else:
            self._compiled.optimizer = optimizer

    @property
    def loss(self) -> Any:
        """The loss that was given to `compile`; None before."""
        return self._compiled and self._compiled.loss and self._compiled.loss.given

    @property
    def metrics(self) -> list[Metric]:
        """The mean of the loss, the metrics that were given to `compile` as one, and metrics among the attributes."""
        found: list[Metric] = []
        if self._compiled is not None:
            parts = self._compiled.loss.metrics if self._compiled.loss is not None else []
            found = [self._compiled.tracker, *parts, self._compiled.metrics]
        return found + list(_metrics_in(vars(self).values()))

    @property
    def metrics_names(self) -> list[str]:
        """The names of `metrics`."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Begin anew with all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> Logs:
        """The results of all metrics by their names."""
        found: Logs = {}
        for metric in self.metrics:
            result = metric.result()
            found.update(result if isinstance(result, dict) else {metric.name: result})
        return found

    def compute_loss(
        self,
        x: Any = None,  # noqa: ARG002 (Keras's signature)
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,  # noqa: ARG002
    ) -> Any:
        """The loss of a batch with all that regularizers and `add_loss` add; may be written anew in a class of one's own.

        Parameters
        ----------
        x, y, y_pred, sample_weight : optional
            The inputs, targets, outputs and weights of a batch.
        training : bool, optional

        Returns
        -------
        Tensor

        Raises
        ------
        ModelError
            If there is no loss.
        """
        loss = self._compiled and self._compiled.loss
        terms = list(self.losses)
        if loss is not None:
            if y is None:
                raise ModelError(
                    f"the loss of {self.name!r} compares outputs with targets, and there are none: write fit(x, y)"
                )
            terms.insert(0, loss(y, y_pred, sample_weight))
        if not terms:
            raise ModelError(
                f"the model {self.name!r} has no loss: write model.compile(optimizer, loss='mse')"
            )
        total = terms[0]
        for term in terms[1:]:
            total = total + np.sum(term)
        return total

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> Logs:  # noqa: ARG002
        """Add a batch to the metrics; the results so far, by their names."""
        if self._compiled is not None and y is not None:
            self._compiled.metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def train_step(self, data: Any) -> Logs:
        """Make a step of training; may be written anew in a class of one's own.

        Parameters
        ----------
        data : tuple of (x, y) or (x, y, sample_weight), or x
            A batch, of tensors.

        Returns
        -------
        dict of str to Tensor
            The results of the metrics so far, the loss among them.

        Raises
        ------
        NonFiniteError
            If the loss or a gradient is not finite; then no variable is changed.
        """
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        step = Step(self)
        with GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self._loss(x, y, y_pred, sample_weight, training=True)
        step.require_finite(data, loss)
        variables = [variable for variable in self.variables if variable.trainable]
        gradients = tape.gradient(loss, variables) if variables else []
        step.require_finite(data, loss, variables, gradients)
        if variables:
            self.optimizer.apply(
                gradients, variables, lambda *named: str(tape.explain(loss, *named))
            )
        else:
            warnings.warn(
                f"the model {self.name!r} has no variables to train: all are frozen, or none",
                stacklevel=2,
            )
        self._track(loss, y_pred)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def test_step(self, data: Any) -> Logs:
        """Evaluate a batch; may be written anew in a class of one's own. Otherwise as `train_step`."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False)
        self._track(self._loss(x, y, y_pred, sample_weight, training=False), y_pred)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data: Any) -> Any:
        """Compute the outputs of a batch; may be written anew in a class of one's own."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self(x, training=False)

    def _loss(self, *args: Any, training: bool) -> Any:
        """The loss, by `compute_loss`, which in a class of one's own may lack the parameter `training`."""
        if _takes_training(type(self).compute_loss):
            return self.compute_loss(*args, training=training)
        return self.compute_loss(*args)

    def _track(self, loss: Any, y_pred: Any) -> None:
        if self._compiled is not None:
            outputs = leaves(y_pred)
            count = outputs[0].shape[0] if outputs and outputs[0].ndim else 1
            self._compiled.tracker.update_state(loss, count)

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
        x : array_like, list or dict of array_likes, or iterable
            The inputs, with the examples along the first axis; or an iterable of batches, ``(x, y)`` or
            ``(x, y, sample_weight)``, which is iterated anew for each epoch.
        y : array_like, list or dict of array_likes, optional
            The targets; none beside an iterable.
        batch_size : int, optional
            The number of examples in a step, 32 if left out; an iterable gives batches as they are.
        epochs : int, optional
            How often to go through the data; with `initial_epoch`, the number of the last one.
        verbose : 'auto', 0, 1 or 2, optional
            0 for nothing, 2 for a line for each epoch, 1 for a bar, too, while somebody watches. "auto" is 1, with about
            20 lines if there are more than 40 epochs.
        callbacks : list of Callback, optional
        validation_split : float, optional
            The part of the data, taken from their end, that the model is validated with, and not trained.
        validation_data : tuple of (x, y) or (x, y, sample_weight), or iterable, optional
        shuffle : bool, optional
            Whether the examples are in another order in each epoch, drawn from the generator of `nn.random`.
        class_weight : mapping of int to float, optional
            Weights of examples by the numbers of their classes.
        sample_weight : array_like, optional
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
        An interrupt ends training after the step under way. The model keeps what it has learned, and, as `history`, the
        epochs that were finished.

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
        compiled = self._require_compiled("fit")
        if compiled.optimizer is None:
            raise ModelError(f"the model {self.name!r} was compiled without an optimizer")
        epochs = _whole(epochs, "epochs", 0)
        initial_epoch = _whole(initial_epoch, "initial_epoch", 0)
        size = _whole(32 if batch_size is None else batch_size, "batch_size", 1)
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
        progress = [Progress(_verbosity(verbose))] if _verbosity(verbose) else []
        told = CallbackList(
            [*_listed(callbacks), history, *progress],
            self,
            epochs=epochs,
            initial_epoch=initial_epoch,
            steps=batches.steps,
            verbose=verbose,
            validates=validation is not None,
        )
        self.history = history
        self.stop_training = False
        with _closed(progress), between_steps() as interrupt:
            span = range(initial_epoch, epochs)
            call_named(
                "fit", self._epochs, span, batches, validation, validation_freq, told, interrupt
            )
        return history

    def _epochs(
        self,
        span: range,
        batches: Batches,
        validation: Any,
        validation_freq: Any,
        told: CallbackList,
        interrupt: Callable[[], None],
    ) -> None:
        """Train for some epochs, and validate after those that `validation_freq` says."""
        logs: Logs | None = None
        told.call("on_train_begin", None)
        for epoch in span:
            told.call("on_epoch_begin", epoch, None)
            self.reset_metrics()
            found = call_named("epoch", self._epoch, batches, told, epoch, interrupt)
            if found is None:
                break
            logs = found
            if validation is not None and _validates(epoch, validation_freq):
                values = self._test(validation, told, interrupt)
                logs.update((f"val_{name}", value) for name, value in values.items())
            told.call("on_epoch_end", epoch, logs)
            interrupt()
            if self.stop_training:
                break
        if getattr(self.optimizer, "use_ema", False) and self.optimizer.built:
            self.optimizer.finalize_variable_values(self.trainable_variables)
        told.call("on_train_end", logs)

    def _epoch(
        self, batches: Batches, told: CallbackList, epoch: int, interrupt: Callable[[], None]
    ) -> Logs | None:
        """Train for an epoch; the results, or None if a callback ended training since the loss was not finite."""
        logs: Logs = {}
        heard = told.hears("on_train_batch_end")
        kept = None if type(self).train_step is Trainer.train_step else self._values()
        with closing(batches.epoch()) as epoch_batches:
            for number, (data, rows) in enumerate(epoch_batches):
                told.call("on_train_batch_begin", number, None)
                try:
                    logs = call_named("train_step", self.train_step, data)
                    if kept is not None:
                        _require_finite_loss(logs, kept)
                except NonFiniteError as error:
                    _locate(error, epoch, number, rows)
                    if not _accepted(told, number, error):
                        raise
                    return None
                if heard:
                    told.call("on_train_batch_end", number, _plain(logs))
                interrupt()
                if self.stop_training:
                    break
        return _plain(logs)

    def _values(self) -> list[tuple[Any, Any]]:
        """The variables of the model and of its optimizer, with copies of their values."""
        optimizer = self.optimizer
        states = optimizer.variables if optimizer is not None else []
        return [(variable, variable.numpy()) for variable in [*self.variables, *states]]

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Compute the loss and the metrics of data.

        Parameters
        ----------
        x, y, batch_size, sample_weight : optional
            As of `fit`.
        verbose : 'auto', 0, 1 or 2, optional
            0 for nothing; else a line, and, but for 2, a bar while somebody watches.
        steps : int, optional
            The number of batches; all of them if left out.
        callbacks : list of Callback, optional
        return_dict : bool, optional

        Returns
        -------
        float, list of float, or dict of str to float
            The loss and the metrics, in the order of the line that is printed; the loss alone if there are no metrics;
            by their names, if `return_dict`.

        Raises
        ------
        ModelError, NotNumbersError, OptionError, ShapeError
            As of `fit`.
        """
        self._require_compiled("evaluate")
        size = _whole(32 if batch_size is None else batch_size, "batch_size", 1)
        batches = self._batches(x, y, sample_weight, size, False, steps, None)
        progress = [Progress(_verbosity(verbose))] if _verbosity(verbose) else []
        told = CallbackList(
            [*_listed(callbacks), *progress], self, steps=batches.steps, verbose=verbose
        )
        with _closed(progress):
            logs = self._test(batches, told)
        return logs if return_dict else _one_or_all(logs)

    def _test(
        self, batches: Batches, told: CallbackList, interrupt: Callable[[], None] | None = None
    ) -> Logs:
        """Evaluate the model on batches."""
        self.reset_metrics()
        told.call("on_test_begin", None)
        logs: Logs = {}
        heard = told.hears("on_test_batch_end")
        with silence(), closing(batches.epoch()) as epoch_batches:
            for number, (data, _) in enumerate(epoch_batches):
                told.call("on_test_batch_begin", number, None)
                logs = self.test_step(data)
                if heard:
                    told.call("on_test_batch_end", number, _plain(logs))
                if interrupt is not None:
                    interrupt()
        found = _plain(logs)
        told.call("on_test_end", found)
        return found

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = 0,  # noqa: ARG002 (Keras's signature)
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """Compute the outputs for data, batch by batch; tapes record nothing of it.

        Parameters
        ----------
        x : array_like, list or dict of array_likes, or iterable
            As of `fit`.
        batch_size : int, optional
            32 if left out.
        verbose : optional
            Accepted for Keras's sake, and not used: nothing is printed.
        steps : int, optional
            The number of batches; all of them if left out.
        callbacks : list of Callback, optional

        Returns
        -------
        numpy.ndarray, or structure of them
            The outputs for all examples.

        Raises
        ------
        NotNumbersError, OptionError, ShapeError
            As of `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from tapemagic import nn
        >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="ones")])
        >>> model.predict(np.array([[1.0, 2.0], [3.0, 4.0]]))
        array([[3.],
               [7.]], dtype=float32)
        """
        size = _whole(32 if batch_size is None else batch_size, "batch_size", 1)
        batches = self._batches(x, None, None, size, False, steps, None)
        told = CallbackList(_listed(callbacks), self, steps=batches.steps)
        told.call("on_predict_begin", None)
        found: list[Any] = []
        with silence(), closing(batches.epoch()) as epoch_batches:
            for number, (data, _) in enumerate(epoch_batches):
                told.call("on_predict_batch_begin", number, None)
                outputs = self.predict_step(data)
                found.append([np.asarray(unwrap(part)) for part in leaves(outputs)])
                told.call("on_predict_batch_end", number, {"outputs": outputs})
        told.call("on_predict_end", None)
        return pack(outputs, [np.concatenate(parts) for parts in zip(*found, strict=True)])

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Mapping[int, float] | None = None,
        return_dict: bool = False,
    ) -> Any:
        """Make a step of training on a batch.

        Parameters
        ----------
        x, y, sample_weight, class_weight : optional
            As of `fit`, for one batch.
        return_dict : bool, optional

        Returns
        -------
        float, list of float, or dict of str to float
            The loss and the metrics of this batch, as `evaluate` returns them.

        Raises
        ------
        ModelError, NonFiniteError, NotNumbersError, OptionError, ShapeError
            As of `fit`.
        """
        self._require_compiled("train_on_batch")
        self.reset_metrics()
        with between_steps():
            logs = _plain(self.train_step(self._batch(x, y, sample_weight, class_weight)))
        return logs if return_dict else _one_or_all(logs)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Compute the loss and the metrics of a batch, as `evaluate` does."""
        self._require_compiled("test_on_batch")
        self.reset_metrics()
        with silence():
            logs = _plain(self.test_step(self._batch(x, y, sample_weight, None)))
        return logs if return_dict else _one_or_all(logs)

    def predict_on_batch(self, x: Any) -> Any:
        """Compute the outputs for a batch, as `predict` does."""
        with silence():
            outputs = self.predict_step(self._batch(x, None, None, None))
        return pack(outputs, [np.asarray(unwrap(part)) for part in leaves(outputs)])

    def _batch(self, x: Any, y: Any, sample_weight: Any, class_weight: Any) -> Any:
        """Arrays as the batch that `train_step` takes."""
        batches = self._batches(x, y, sample_weight, 1, False, None, class_weight)
        if not isinstance(batches, ArrayBatches):
            raise OptionError("a batch is made of arrays, not of an iterable: write fit(iterable)")
        parts = [None if part is None else rows_of(part, slice(None)) for part in batches.data]
        return pack_x_y_sample_weight(*parts)

    def _batches(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        batch_size: int,
        shuffle: bool,
        steps: int | None,
        class_weight: Any,
    ) -> Batches:
        """Data as batches."""
        steps = None if steps is None else _whole(steps, "the number of steps", 1)
        if class_weight is not None and sample_weight is not None:
            raise OptionError("give class_weight or sample_weight, not both")
        if is_iterable_data(x):
            if y is not None or sample_weight is not None:
                raise OptionError(
                    "an iterable gives the targets and weights with the inputs, as (x, y) or (x, y, sample_weight): leave "
                    "y and sample_weight out"
                )
            return IteratedBatches(x, self.input_dtype, steps, class_weight)
        if x is None:
            raise OptionError("there are no data: write fit(x, y)")
        x = arrays_in(x, "x", self.input_dtype)
        y = None if y is None else arrays_in(y, "y")
        weight = None if sample_weight is None else arrays_in(sample_weight, "sample_weight")
        if class_weight is not None:
            weight = weights_of_classes(y, class_weight)
        return ArrayBatches(x, y, weight, batch_size, bool(shuffle), steps)

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

    def _require_compiled(self, what: str) -> Compiled:
        if self._compiled is None:
            raise ModelError(
                f"the model {self.name!r} is not compiled: write model.compile(optimizer='adam', loss='mse') before "
                f"model.{what}(...)"
            )
        return self._compiled


@cache
def _takes_training(method: Any) -> bool:
    """Whether a method has a parameter `training`."""
    return "training" in signature(method).parameters


def _metrics_in(values: Any) -> Iterator[Metric]:
    """The metrics among the attributes of a model, also in lists."""
    for value in values:
        if isinstance(value, Metric):
            yield value
        elif value.__class__ in {list, tuple}:
            yield from _metrics_in(value)


def _plain(logs: Any) -> Logs:
    """Results as floats, the loss first; those of dicts among them by their own names."""
    if logs is None:
        return {}
    if not isinstance(logs, Mapping):
        raise OptionError(
            f"train_step and test_step return a dict of results by their names, not {shown(logs)}: write return "
            "{'loss': loss}"
        )
    found: Logs = {}
    for name, value in logs.items():
        if isinstance(value, Mapping):
            found.update(_plain(value))
        else:
            array = np.asarray(unwrap(value))
            found[name] = array.item() if array.ndim == 0 else array
    return found


def _one_or_all(logs: Logs) -> Any:
    values = list(logs.values())
    return values[0] if len(values) == 1 else values


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


def _accepted(told: CallbackList, batch: int, error: NonFiniteError) -> bool:
    """Whether a callback takes the place of an error for a loss that is not finite."""
    accepted = False
    for callback in told.callbacks:
        if hasattr(callback, "on_nonfinite"):
            callback.on_nonfinite(batch, error)
            accepted = True
    return accepted


def _validates(epoch: int, frequency: Any) -> bool:
    """Whether there is a validation after an epoch."""
    if isinstance(frequency, int):
        return (epoch + 1) % _whole(frequency, "validation_freq", 1) == 0
    return epoch + 1 in frequency


def _listed(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]


def _verbosity(verbose: Any) -> Any:
    if verbose not in ("auto", 0, 1, 2):
        raise OptionError(f"verbose is 'auto', 0, 1 or 2, not {verbose!r}")
    return verbose


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise OptionError(
        f"{name} is a whole number from {least} on, not {value!r}: write {max(least, 1)}"
    )


@contextmanager
def _closed(progress: list[Progress]) -> Iterator[None]:
    """Rub out the bar at the end, whatever ends the block."""
    try:
        yield
    finally:
        for bar in progress:
            bar.close()
