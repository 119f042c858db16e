"""Steps: what a model is trained with, and one step of training, evaluation or prediction."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.tracing import tracer
from tapemagic.errors import ModelError, NonFiniteError, ShapeError
from tapemagic.nn import optimizers
from tapemagic.nn.metrics import Metric
from tapemagic.nn.models.batches import unpack_x_y_sample_weight
from tapemagic.nn.models.compiled import CompiledLoss, CompiledMetrics, LossTracker
from tapemagic.nn.models.logs import Logs
from tapemagic.nn.models.step_guard import Step
from tapemagic.tape import GradientTape


class Compiled:
    """The arguments of `compile`.

    Attributes
    ----------
    eager : bool or None
        Whether steps of training run as they stand; None if `fit` decides.
    """

    __tape_unwatched__ = frozenset({"eager", "tracker"})

    def __init__(
        self, optimizer: Any, loss: Any, metrics: CompiledMetrics, eager: bool | None = None
    ) -> None:
        self.optimizer = optimizer
        self.eager = eager
        self.loss: CompiledLoss | None = loss
        self.tracker = LossTracker("loss")
        self.metrics = metrics


class Steps:
    """The part of a model that makes steps."""

    loss: Any = None
    _compiled: Compiled | None = None

    name: Any
    losses: Any
    variables: Any
    trainable_variables: Any
    unchanged: Callable[[], Any]
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
        run_eagerly: bool | None = None,
        steps_per_execution: int = 1,  # noqa: ARG002 (Keras's signature)
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
        run_eagerly : bool, optional
            Whether each step of training runs as it stands. If not, it is traced twice for batches of a shape, and
            replayed as a program from then on, with the same values (sums over some 100,000 numbers or more may differ
            by rounding); see `tapemagic.function`. Tracing takes as long as
            some hundred steps of a small network: if left out, `fit` does so for 1,000 steps or more. Where no program
            can be made, such as of a model with Dropout, steps run as they stand, and `why_eager` says why.
        steps_per_execution, jit_compile, auto_scale_loss : optional
            Accepted for Keras's sake, and not used.

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
        if programs_of_steps.cache_info().currsize:
            programs_of_steps().__get__(self).reset()
        self.loss = loss
        names = self.output_names
        self._compiled = Compiled(
            optimizers.get(optimizer),
            None if loss is None else CompiledLoss(loss, loss_weights, names),
            CompiledMetrics(metrics, weighted_metrics, names),
            None if run_eagerly is None else bool(run_eagerly),
        )

    @property
    def compiled(self) -> bool:
        """Whether `compile` was called."""
        return self._compiled is not None

    _replays = False
    """Whether `fit` has decided that the next step is a program."""

    @property
    def run_eagerly(self) -> bool:
        """Whether all steps of training run as they stand, as `compile` was told."""
        return self._compiled is None or bool(self._compiled.eager)

    @property
    def why_eager(self) -> str:
        """The reason why steps of training could be no programs; empty if they were, or if that was never tried."""
        return "" if self.run_eagerly else str(programs_of_steps().__get__(self).why_eager)

    @property
    def optimizer(self) -> Any:
        """The optimizer that was given to `compile`; None before."""
        return vars(self).get("optimizer") if self._compiled is None else self._compiled.optimizer

    @optimizer.setter
    def optimizer(self, optimizer: Any) -> None:
        if self._compiled is None:
            vars(self)["optimizer"] = optimizer
        else:
            self._compiled.optimizer = optimizer

    _tells_results = True
    """Whether the results of metrics are wanted after each batch, and not only at the end of an epoch."""

    @property
    def metrics(self) -> list[Metric]:
        """The mean of the loss, the metrics that were given to `compile` as one, and metrics among the attributes."""
        metrics: list[Metric] = []
        if self._compiled is not None:
            parts = self._compiled.loss.metrics if self._compiled.loss is not None else []
            metrics = [self._compiled.tracker, *parts, self._compiled.metrics]
        return metrics + list(_metrics_in(vars(self).values()))

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
        results: Logs = {}
        for metric in self.metrics:
            result = metric.result()
            results.update(result if isinstance(result, dict) else {metric.name: result})
        return results

    def compute_loss(
        self,
        x: Any = None,  # noqa: ARG002 (Keras's signature)
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,  # noqa: ARG002
    ) -> Any:
        """The loss of a batch with all that regularizers and `add_loss` add; may be written anew in a class.

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
        loss = self._compiled.loss if self._compiled is not None else None
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
        self._measure(y, y_pred, sample_weight)
        return self._metric_results()

    def _measure(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Add a batch to the metrics."""
        if self._compiled is not None and y is not None:
            self._compiled.metrics.update_state(y, y_pred, sample_weight)

    def _metric_results(self) -> Logs:
        """The results of the metrics so far, if they are wanted."""
        return self.get_metrics_result() if self._tells_results else {}

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
        usual = type(self).compute_metrics is Steps.compute_metrics
        loss, y_pred = self._learned(data, usual)
        self._track(loss, y_pred)
        if usual:
            return self._metric_results()
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def _learned(self, data: Any, measures: bool) -> Any:
        """The result of `_learn`, by a program if there is to be one."""
        eager = None if self._compiled is None else self._compiled.eager
        if not self._replays if eager is None else eager:
            return self._learn(data, measures)
        try:
            with _one_at_a_time if tracer() is None else nullcontext():
                return programs_of_steps().__get__(self)(data, measures)
        except NonFiniteError:  # its origin is found where nothing is traced
            return self._learn(data, measures)

    def _learn(self, data: Any, measures: bool) -> tuple[Any, Any]:
        """Change the weights by a batch, and add it to the metrics if asked to; the loss and the outputs."""
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
        if measures:
            self._measure(y, y_pred, sample_weight)
        return loss, y_pred

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
        options = {"training": training} if _takes_training(type(self).compute_loss) else {}
        loss = self.compute_loss(*args, **options)
        if np.ndim(loss):
            raise ShapeError(
                f"the loss of {self.name!r} has the shape {np.shape(loss)}, and is to be one number: take np.mean of "
                "it, or a loss with reduction='sum_over_batch_size'"
            )
        return loss

    def _track(self, loss: Any, y_pred: Any) -> None:
        if self._compiled is not None:
            outputs = leaves(y_pred)
            count = outputs[0].shape[0] if outputs and outputs[0].ndim else 1
            self._compiled.tracker.update_state(loss, count)

    def require_compiled(self, what: str) -> Compiled:
        """The optimizer, the loss and the metrics.

        Raises
        ------
        ModelError
            If it was not; the method `what` needs it.
        """
        if self._compiled is None:
            raise ModelError(
                f"the model {self.name!r} is not compiled: write model.compile(optimizer='adam', loss='mse') before "
                f"model.{what}(...)"
            )
        return self._compiled


_one_at_a_time = threading.RLock()
"""Held by the thread that replays a step, so that no other one assigns the weights between its first and last line."""


@cache
def programs_of_steps() -> Any:
    """The programs of steps of training, of all models; no warning where there can be none."""
    from tapemagic.programs.function import Function

    return Function(Steps._learn, warns=False)


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
