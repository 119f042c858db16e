"""Steps: the compiled loss, metrics and optimizer of a model, and one step of training, evaluation or prediction."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.tracing import tracer
from tapemagic.errors import ModelError, NonFiniteError, ShapeError
from tapemagic.nn import optimizers
from tapemagic.nn.config import floatx
from tapemagic.nn.metrics import Metric
from tapemagic.nn.models.batches import unpack_x_y_sample_weight
from tapemagic.nn.models.compiled import CompiledLoss, CompiledMetrics, LossTracker
from tapemagic.nn.models.logs import Logs
from tapemagic.nn.models.step_guard import Reaction, Step
from tapemagic.nn.object_configs import deserialize_keras_object, serialize_keras_object
from tapemagic.tape import GradientTape

if TYPE_CHECKING:
    from tapemagic.nn.layer import Layer
else:
    Layer = object


class Compiled:
    """The arguments of `compile`.

    - `eager`: True if training steps run eagerly, False if they are compiled, None if `fit` decides.
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
        self.reaction = Reaction()


class Steps(Layer):
    """Mix-in of a model, which is a layer: single steps of training, evaluation and prediction."""

    loss: Any = None
    _compiled: Compiled | None = None

    unchanged: Callable[[], Any]

    @property
    def output_paths(self) -> list[str] | None:
        """Return the names of the outputs in logs, or None if they aren't known."""
        return None

    @property
    def input_dtype(self) -> Any:
        """The dtype to which floating-point inputs are cast before training, or None for no cast."""
        return None

    @property
    def target_dtype(self) -> str:
        """The dtype to which floating-point targets and weights are cast before training."""
        return floatx()

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
        """Choose the optimizer, the loss and the metrics for training.

        Raises OptionError if an optimizer, a loss or a metric is unknown.

        Parameters
        ----------
        optimizer : str or Optimizer, optional
        loss : str, callable or Loss, or list or dict of such, optional
            For several outputs, one loss for all, or one for each, in a list or by name.
        loss_weights : float, or list or dict of float, optional
            Factors of the losses of several outputs in their sum.
        metrics : list of str, callable or Metric, or list of lists or dict for several outputs, optional
            "accuracy" selects the accuracy that fits the targets and outputs.
        weighted_metrics : optional
            Like `metrics`, but these also receive the sample weights.
        run_eagerly : bool, optional
            False traces a training step twice for each shape of batches, and then replays it as a program with the
            same values (sums over some 100,000 numbers or more may differ by rounding); see `tapemagic.function`.
            Tracing takes as long as some hundred steps of a small network, so by default `fit` does it for at least
            1,000 steps. If a step can't be traced, such as one that prints, it runs eagerly, and `why_eager` says why.
        steps_per_execution, jit_compile, auto_scale_loss : optional
            Not used. Keras's signature has them.

        Examples
        --------
        >>> from tapemagic import nn
        >>> model = nn.Sequential([nn.Dense(3, activation="softmax")])
        >>> model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        """
        # Programs of an earlier compilation would use the earlier loss and optimizer.
        if programs_of_steps.cache_info().currsize:
            programs_of_steps().__get__(self).reset()
        self.loss = loss
        names = self.output_paths
        self._compiled = Compiled(
            optimizers.get(optimizer),
            None if loss is None else CompiledLoss(loss, loss_weights, names),
            CompiledMetrics(metrics, weighted_metrics, names),
            None if run_eagerly is None else bool(run_eagerly),
        )

    @property
    def compiled(self) -> bool:
        """True if `compile` was called."""
        return self._compiled is not None

    def get_compile_config(self) -> dict[str, Any]:
        """Return the arguments of `compile` in Keras's form, for a file; empty if the model isn't compiled."""
        compiled = self._compiled
        if compiled is None:
            return {}
        metrics, weighted = compiled.metrics.settings
        loss = compiled.loss
        config = {
            "optimizer": compiled.optimizer,
            "loss": None if loss is None else loss.settings,
            "loss_weights": None if loss is None else loss.weights,
            "metrics": metrics,
            "weighted_metrics": weighted,
            "run_eagerly": bool(compiled.eager),
            "steps_per_execution": 1,
            "jit_compile": False,
        }
        return {name: serialize_keras_object(value) for name, value in config.items()}

    def compile_from_config(self, config: Any) -> None:
        """Compile the model with the arguments in a file; does nothing if a subclass has its own `compile`."""
        if type(self).compile is not Steps.compile:
            warnings.warn(
                f"the class {type(self).__name__} has its own method compile, so the model isn't compiled: call it",
                UserWarning,
                stacklevel=2,
            )
            return
        options = deserialize_keras_object(config)
        # False means Keras's graphs, which have no counterpart here; by default `fit` decides.
        options["run_eagerly"] = options.get("run_eagerly") or None
        self.compile(**options)

    _replays = False
    """True if `fit` has decided that the next step is replayed as a program."""

    @staticmethod
    def _batch_tensors(data: Any) -> Any:
        """Return a batch with the tensors that losses and metrics of users receive."""
        return data

    @property
    def run_eagerly(self) -> bool:
        """True if all training steps run eagerly, as requested in `compile`."""
        return self._compiled is None or bool(self._compiled.eager)

    @property
    def why_eager(self) -> str:
        """The reason why training steps couldn't be traced, or '' if they could, or if it was never tried."""
        return "" if self.run_eagerly else str(programs_of_steps().__get__(self).why_eager)

    @property
    def optimizer(self) -> Any:
        """The optimizer passed to `compile`, or None before."""
        return vars(self).get("optimizer") if self._compiled is None else self._compiled.optimizer

    @optimizer.setter
    def optimizer(self, optimizer: Any) -> None:
        if self._compiled is None:
            vars(self)["optimizer"] = optimizer
        else:
            self._compiled.optimizer = optimizer

    _tells_results = True
    """True if steps return the results of metrics, False if these are read only at the end of an epoch."""

    @property
    def metrics(self) -> list[Metric]:
        """The mean of the loss, the metrics of `compile` as one, and the metrics among the attributes."""
        metrics: list[Metric] = []
        if self._compiled is not None:
            parts = self._compiled.loss.metrics if self._compiled.loss is not None else []
            compiled = [self._compiled.metrics] if any(self._compiled.metrics.settings) else []
            metrics = [self._compiled.tracker, *compiled, *parts]
        return metrics + list(_metrics_in(vars(self).values()))

    @property
    def metrics_names(self) -> list[str]:
        """The names of `metrics`."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Reset the states of all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> Logs:
        """Return the results of all metrics by name."""
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
        """Return the loss of a batch plus the terms of regularizers and `add_loss`; may be overridden.

        Raises ModelError if there is no loss.

        Parameters
        ----------
        x, y, y_pred, sample_weight : optional
            The inputs, targets, outputs and weights of a batch.
        training : bool, optional
        """
        loss = self._compiled.loss if self._compiled is not None else None
        terms = list(self.losses)
        if loss is not None:
            if y is None:
                raise ModelError(
                    f"the loss of {self.name!r} compares outputs with targets, but got no targets: write fit(x, y)"
                )
            terms.insert(0, loss(y, y_pred, sample_weight))
        if not terms:
            raise ModelError(
                f"the model {self.name!r} has no loss: write model.compile(optimizer, loss='mse')"
            )
        # Not sum(terms): it begins with 0 + term, which records one more operation.
        total = terms[0]
        for term in terms[1:]:
            total = total + np.sum(term)
        return total

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> Logs:  # noqa: ARG002
        """Add a batch to the metrics, and return the results so far by name."""
        self._measure(y, y_pred, sample_weight)
        return self._metric_results()

    def _measure(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Add a batch to the metrics."""
        if self._compiled is not None and y is not None:
            self._compiled.metrics.update_state(y, y_pred, sample_weight)

    def _metric_results(self) -> Logs:
        """Return the results of the metrics so far, or {} if they are read only at the end of the epoch."""
        return self.get_metrics_result() if self._tells_results else {}

    def train_step(self, data: Any) -> Logs:
        """Train on one batch; may be overridden.

        The first time that the loss or a gradient is nan or infinite, a warning says why, and training continues, as in
        Keras. With ``TerminateOnNaN(raise_error=True)``, `fit` raises NonFiniteError, and no variable is changed.

        Parameters
        ----------
        data : tuple of (x, y) or (x, y, sample_weight), or x
            A batch of tensors.

        Returns
        -------
        dict of str to Tensor
            The results of the metrics so far, including the loss.
        """
        is_default = type(self).compute_metrics is Steps.compute_metrics
        loss, y_pred = self._learned(data, is_default)
        self._track(loss, y_pred)
        if is_default:
            return self._metric_results()
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def _learned(self, data: Any, measures: bool) -> Any:
        """Return the result of `_learn`, eagerly or by a program."""
        eager = None if self._compiled is None else self._compiled.eager
        if self._is_nonfinite():
            eager = True  # programs end at a nan loss
        if not self._replays if eager is None else eager:
            return self._learn(data, measures)
        try:
            with _one_at_a_time if tracer() is None else nullcontext():
                return programs_of_steps().__get__(self)(data, measures)
        except NonFiniteError:  # run eagerly: only there can the origin of the nan be searched for
            return self._learn(data, measures)

    def _is_nonfinite(self) -> bool:
        """Return True if a warning has named a nan or infinite loss or gradient of an earlier step."""
        return self._compiled is not None and self._compiled.reaction.warned

    def _learn(self, data: Any, measures: bool) -> tuple[Any, Any]:
        """Update the weights for one batch, and the metrics if `measures`; return the loss and the outputs."""
        x, y, sample_weight = unpack_x_y_sample_weight(self._batch_tensors(data))
        reaction = Reaction() if self._compiled is None else self._compiled.reaction
        step = Step(self, reaction)
        # A warning has told where the nan comes from: NumPy's warnings about its consequences would hide it.
        quiet = np.errstate(all="ignore") if reaction.warned else nullcontext()
        with GradientTape() as tape, quiet:
            y_pred = self(x, training=True)
            loss = self._loss(x, y, y_pred, sample_weight, training=True)
        # Checked before differentiating: the backward pass of a nan loss costs time and warns.
        step.check_finite(data, loss)
        with np.errstate(all="ignore") if reaction.warned else nullcontext():
            variables = [variable for variable in self.variables if variable.trainable]
            gradients = tape.gradient(loss, variables) if variables else []
            step.check_finite(data, loss, variables, gradients)
            if variables:
                self.optimizer.apply(
                    gradients, variables, lambda *named: str(tape.explain(loss, *named))
                )
            else:
                warnings.warn(
                    f"the model {self.name!r} has no variables to train: all are frozen, or there are none",
                    stacklevel=2,
                )
        if measures:
            self._measure(y, y_pred, sample_weight)
        return loss, y_pred

    def test_step(self, data: Any) -> Logs:
        """Evaluate one batch, and return results as `train_step` does; may be overridden."""
        x, y, sample_weight = unpack_x_y_sample_weight(self._batch_tensors(data))
        y_pred = self(x, training=False)
        self._track(self._loss(x, y, y_pred, sample_weight, training=False), y_pred)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data: Any) -> Any:
        """Compute the outputs for one batch; may be overridden."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self(x, training=False)

    def _loss(self, *args: Any, training: bool) -> Any:
        """Return the loss by `compute_loss`, whose override in a subclass may lack the parameter `training`."""
        options = {"training": training} if _takes_training(type(self).compute_loss) else {}
        loss = self.compute_loss(*args, **options)
        if np.ndim(loss):
            raise ShapeError(
                f"the loss of {self.name!r} has the shape {np.shape(loss)}, but must be one number: write "
                "np.mean(loss), or take a loss with reduction='sum_over_batch_size'"
            )
        return loss

    def _track(self, loss: Any, y_pred: Any) -> None:
        if self._compiled is not None:
            outputs = leaves(y_pred)
            count = outputs[0].shape[0] if outputs and outputs[0].ndim else 1
            self._compiled.tracker.update_state(loss, count)

    def require_compiled(self, what: str) -> Compiled:
        """Return the optimizer, the loss and the metrics, or raise ModelError, which names the method `what`."""
        if self._compiled is None:
            raise ModelError(
                f"the model {self.name!r} isn't compiled: write model.compile(optimizer='adam', loss='mse') before "
                f"model.{what}(...)"
            )
        return self._compiled


_one_at_a_time = threading.RLock()
"""Lock of the thread that replays a step: a program reads the weights first and assigns them at its last line."""


@cache
def programs_of_steps() -> Any:
    """Return the compiled training step of all models, which runs eagerly without a warning if it can't be traced."""
    # Imported here, because most programs never compile a step.
    from tapemagic.programs.function import Function

    return Function(Steps._learn, warns=False)


@cache
def _takes_training(method: Any) -> bool:
    """Return True if a method has a parameter `training`."""
    return "training" in signature(method).parameters


def _metrics_in(values: Any) -> Iterator[Metric]:
    """Yield the metrics among the attributes of a model, also in lists."""
    for value in values:
        if isinstance(value, Metric):
            yield value
        elif value.__class__ in {list, tuple}:
            yield from _metrics_in(value)
