"""The loss and the metrics of a compiled model, for one output or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap, wrap
from tapemagic.errors import NotNumbersError, OptionError, ShapeError
from tapemagic.nn import losses
from tapemagic.nn.losses import Loss
from tapemagic.nn.metrics import Metric, get_for


class LossTracker(Metric):
    """The mean of losses over batches, each weighted by its number of examples.

    Examples
    --------
    >>> tracker = LossTracker("loss")
    >>> tracker.update_state(2.0, 3)
    >>> tracker.update_state(6.0, 1)
    >>> tracker.result()
    Tensor(3.0, dtype=float32)
    """

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.total = self.count = 0.0

    def update_state(self, value: Any, sample_weight: float = 1) -> None:
        """Add the loss of a batch."""
        self.total += float(unwrap(value)) * sample_weight
        self.count += sample_weight
        if self._dtype == "float32" and getattr(value, "dtype", None) == "float64":
            self._dtype = "float64"

    def result(self) -> Any:
        """The mean, 0 at the beginning."""
        return wrap(np.dtype(self._dtype).type(self.total / self.count if self.count else 0.0))

    def reset_state(self) -> None:
        """Begin anew."""
        self.total = self.count = 0.0


def outputs_by_name(outputs: Any, names: Sequence[str] | None, what: str) -> dict[str, Any]:
    """Several outputs, or what belongs to each, by the names of the outputs.

    Parameters
    ----------
    outputs : list, tuple or mapping
    names : sequence of str, optional
        The names of those in a list; "output_0" and so on if left out.
    what : str
        For messages, such as "y".

    Raises
    ------
    ShapeError
        If there are more or fewer than names, or others.
    """
    if isinstance(outputs, Mapping):
        if names is not None and set(names) != set(outputs):
            raise ShapeError(
                f"the model has the outputs {', '.join(map(repr, names))}, and {what} is a dict with the keys "
                f"{', '.join(map(repr, outputs)) or 'none'}"
            )
        return {name: outputs[name] for name in (names or outputs)}
    values = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    if names is None:
        names = [f"output_{k}" for k in range(len(values))]
    if len(names) != len(values):
        raise ShapeError(
            f"the model has {len(names)} outputs, {', '.join(map(repr, names))}, and {what} has {len(values)} parts: "
            "give a list with one for each, or a dict by their names"
        )
    return dict(zip(names, values, strict=True))


def is_several(outputs: Any) -> bool:
    """Whether a model gives a structure of outputs, and not a tensor."""
    return isinstance(outputs, list | tuple | Mapping)


class Part:
    """The loss of one output, with its weight and its mean."""

    def __init__(self, loss: Loss, weight: float | None, tracker: LossTracker | None) -> None:
        self.loss, self.weight, self.tracker = loss, weight, tracker


class CompiledLoss:
    """The loss of a model: of one output, or the weighted sum of those of several.

    Parameters
    ----------
    loss : str, callable, Loss, or list or mapping of such
        Of several outputs: one for all, or one for each, in a list or by the names of outputs; None for none.
    weights : float, or list or mapping of float, optional
    names : sequence of str, optional
        The names of the outputs.
    """

    def __init__(self, loss: Any, weights: Any, names: Sequence[str] | None) -> None:
        self.settings, self.weights, self.names = loss, weights, names
        if not is_several(loss):
            losses.as_loss(loss)  # an unknown name is said at once
        for weight in leaves(weights):
            if weight is not None and not isinstance(weight, float | int | np.number):
                raise OptionError(
                    f"loss_weights are numbers, not {shown(weight)}: write metrics=... for metrics, "
                    "which stand behind them"
                )
        self._parts: dict[str, Part] | None = None

    @property
    def metrics(self) -> list[Metric]:
        """The means of the losses of each output, if there are several."""
        return [p.tracker for p in (self._parts or {}).values() if p.tracker is not None]

    def __call__(self, y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss for targets, outputs and weights."""
        if y_pred is None:
            raise NotNumbersError("the model gives None: end its method call with return")
        names = self.names
        if not is_several(y_pred):
            names = [names[0] if names else "output"]
        elif isinstance(y_pred, Mapping) and names is None:
            names = list(y_pred)
        predictions = outputs_by_name(y_pred, names, "what the model gives")
        if self._parts is None:
            self._parts = self._resolved(list(predictions))
        targets = self._targets(y, predictions)
        if len(predictions) > 1 and is_several(sample_weight):
            weights = outputs_by_name(sample_weight, list(predictions), "sample_weight")
        else:
            weights = dict.fromkeys(predictions, sample_weight)
        total: Any = None
        for name, part in self._parts.items():
            value = part.loss(targets[name], predictions[name], weights[name])
            if part.tracker is not None:
                part.tracker.update_state(value, len(predictions[name]))
            if part.weight is not None:
                value = part.weight * value
            total = value if total is None else total + value
        return total

    def _targets(self, y: Any, predictions: Mapping[str, Any]) -> dict[str, Any]:
        if len(predictions) == 1 and not is_several(y):
            return dict.fromkeys(predictions, y)
        if is_several(y) and not isinstance(y, Mapping) and len(y) == len(self._parts or ()):
            return dict(zip(self._parts or (), y, strict=True))
        return outputs_by_name(y, list(predictions), "y")

    def _resolved(self, names: list[str]) -> dict[str, Part]:
        specs = _for_each(self.settings, names, "loss")
        weights = (
            _for_each(self.weights, names, "loss_weights") if is_several(self.weights) else None
        )
        several = sum(loss is not None for loss in specs.values()) > 1
        parts = {}
        for name, loss in specs.items():
            if loss is not None:
                weight = weights.get(name) if weights else self.weights
                tracker = LossTracker(f"{name}_loss") if several else None
                parts[name] = Part(losses.as_loss(loss), weight, tracker)
        return parts


def _for_each(setting: Any, names: list[str], what: str) -> dict[str, Any]:
    """The part of each output in what was given: the same for all, or by names, or in a list; else None."""
    if isinstance(setting, Mapping):
        unknown = [name for name in setting if name not in names]
        if unknown:
            raise OptionError(
                f"{what} names {', '.join(map(repr, unknown))}, and the outputs of the model are "
                f"{', '.join(map(repr, names))}"
            )
        return {name: setting.get(name) for name in names}
    if isinstance(setting, list | tuple):
        if len(setting) != len(names):
            raise OptionError(
                f"{what} has {len(setting)} parts, and the model {len(names)} outputs, {', '.join(map(repr, names))}"
            )
        return dict(zip(names, setting, strict=True))
    return dict.fromkeys(names, setting)


class CompiledMetrics(Metric):
    """The metrics that were given to `compile`, those of weighted examples after the others.

    Parameters
    ----------
    metrics, weighted : list, or list of lists or mapping for several outputs, optional
    names : sequence of str, optional
        The names of the outputs.
    """

    def __init__(self, metrics: Any, weighted: Any, names: Sequence[str] | None) -> None:
        super().__init__(name="compile_metrics")
        self.settings, self.names = (metrics, weighted), names
        for part in self.settings:
            if part is not None and not is_several(part):
                raise OptionError(
                    f"metrics are given in a list, not as {shown(part)}: write metrics=[{shown(part)}]"
                )
        self._entries: list[tuple[str, str, Metric, bool]] | None = None

    @property
    def metrics(self) -> list[Metric]:
        """The metrics themselves; none before the first batch, whose shapes choose among accuracies."""
        return [metric for _, _, metric, _ in self._entries or ()]

    def update_state(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch."""
        if not any(self.settings):
            return
        names = self.names
        if not is_several(y_pred):
            names = [names[0] if names else "output"]
        predictions = outputs_by_name(y_pred, names, "what the model gives")
        single = len(predictions) == 1 and not is_several(y)
        listed = list(predictions)
        targets = dict.fromkeys(predictions, y) if single else outputs_by_name(y, listed, "y")
        if self._entries is None:
            self._entries = self._resolved(targets, predictions)
        weights = dict.fromkeys(predictions, sample_weight)
        if is_several(sample_weight):
            weights = outputs_by_name(sample_weight, listed, "sample_weight")
        for output, _, metric, weighted in self._entries:
            if weighted:
                metric.update_state(targets[output], predictions[output], weights[output])
            else:
                metric.update_state(targets[output], predictions[output])

    def _resolved(
        self, targets: Mapping[str, Any], predictions: Mapping[str, Any]
    ) -> list[tuple[str, str, Metric, bool]]:
        entries: list[tuple[str, str, Metric, bool]] = []
        names = list(predictions)
        for weighted, specs in enumerate(self.settings):
            for output, metrics in _metrics_for_each(specs, names).items():
                for identifier in metrics:
                    metric = get_for(identifier, targets[output], predictions[output])
                    name = f"{output}_{metric.name}" if len(names) > 1 else metric.name
                    entries.append(
                        (
                            output,
                            _free(name, [x[1] for x in entries], weighted),
                            metric,
                            bool(weighted),
                        )
                    )
        return entries

    def result(self) -> dict[str, Any]:
        """The results by their names."""
        return {name: metric.result() for _, name, metric, _ in self._entries or ()}

    def reset_state(self) -> None:
        """Begin anew."""
        for metric in self.metrics:
            metric.reset_state()


def _metrics_for_each(metrics: Any, names: list[str]) -> dict[str, list[Any]]:
    """The metrics of each output, in a list."""
    if not metrics:
        return {}
    if len(names) == 1 and not isinstance(metrics, Mapping):
        return {names[0]: leaves(list(metrics))}
    by_output = _for_each(metrics, names, "metrics")
    return {
        name: list(x) if isinstance(x, list | tuple) else [x]
        for name, x in by_output.items()
        if x is not None
    }


def _free(name: str, taken: Sequence[str], weighted: int) -> str:
    """A name that no other metric has."""
    if name in taken and weighted:
        name = f"weighted_{name}"
    if name not in taken:
        return name
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
