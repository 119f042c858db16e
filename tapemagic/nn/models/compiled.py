"""The loss and the metrics of a compiled model, for one output or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.nest import is_leaf, leaves, ordered, parts_of
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap, wrap
from tapemagic.errors import NotNumbersError, OptionError, ShapeError
from tapemagic.nn import losses
from tapemagic.nn.losses import Loss
from tapemagic.nn.metrics import Metric, get_for


class LossTracker(Metric):
    """The mean of a loss over batches, each weighted by its number of examples.

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
        # Python floats: sums of many float32 losses are computed in double precision.
        self.total += float(unwrap(value)) * sample_weight
        self.count += sample_weight
        if self._dtype == "float32" and getattr(value, "dtype", None) == "float64":
            self._dtype = "float64"

    def result(self) -> Any:
        """Return the mean, or 0 before the first batch."""
        return wrap(np.dtype(self._dtype).type(self.total / self.count if self.count else 0.0))

    def reset_state(self) -> None:
        """Reset the state."""
        self.total = self.count = 0.0


def outputs_by_name(outputs: Any, names: Sequence[str] | None, what: str) -> dict[str, Any]:
    """Return outputs, or values that belong to outputs, as a dict by the outputs' names.

    Without `names`, the entries of a list are "output_0" and so on. Raises ShapeError, which calls the values `what`,
    if they don't match the names.
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
            "pass a list with one for each output, or a dict by name"
        )
    return dict(zip(names, values, strict=True))


def flattened(structure: Any, outputs: Any) -> Any:
    """Return the parts of a structure, such as targets, as a list in the order of nested outputs of a model.

    A structure is returned unchanged if the outputs aren't nested, or if it isn't nested in the same way.
    """
    if is_leaf(outputs) or all(map(is_leaf, parts_of(outputs))):
        return structure
    if isinstance(outputs, Mapping):
        if not isinstance(structure, Mapping) or structure.keys() != outputs.keys():
            return structure
        pairs = [(structure[name], outputs[name]) for name in ordered(outputs)]
    elif isinstance(structure, list | tuple) and len(structure) == len(outputs):
        pairs = list(zip(structure, outputs, strict=True))
    else:
        return structure
    return [
        leaf
        for part, inner in pairs
        for leaf in ([part] if is_leaf(inner) else leaves(flattened(part, inner)))
    ]


def is_several(outputs: Any) -> bool:
    """Return True if a model returned a structure of outputs, and not a single tensor."""
    return isinstance(outputs, list | tuple | Mapping)


class Part:
    """Loss of one output, with its weight and its mean over batches."""

    def __init__(self, loss: Loss, weight: float | None, tracker: LossTracker | None) -> None:
        self.loss, self.weight, self.tracker = loss, weight, tracker


class CompiledLoss:
    """The loss of a model: the loss of its output, or the weighted sum over several outputs.

    See `Model.compile` for `loss` and `weights`; `names` are those of the outputs, if known.
    """

    def __init__(self, loss: Any, weights: Any, names: Sequence[str] | None) -> None:
        self.settings, self.weights, self.names = loss, weights, names
        if not is_several(loss):
            losses.as_loss(
                loss
            )  # so that compile() raises for an unknown name, and not the first step
        for weight in leaves(weights):
            if weight is not None and not isinstance(weight, float | int | np.number):
                raise OptionError(
                    f"loss_weights must be numbers, not {shown(weight)}: the third argument of compile is "
                    "loss_weights, so write metrics=... for metrics"
                )
        self._parts: dict[str, Part] | None = None
        self._order: list[str] = []

    @property
    def metrics(self) -> list[Metric]:
        """The mean of the loss of each output, if there are several outputs."""
        parts = self._parts or {}
        return [p.tracker for p in map(parts.get, self._order) if p is not None and p.tracker]

    def __call__(self, y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss for targets, outputs and sample weights."""
        if y_pred is None:
            raise NotNumbersError("the model returned None: end its method call with return")
        names = self.names
        y, sample_weight = flattened(y, y_pred), flattened(sample_weight, y_pred)
        settings = flattened(self.settings, y_pred), flattened(self.weights, y_pred)
        y_pred = flattened(y_pred, y_pred)
        if not is_several(y_pred):
            names = [names[0] if names else "output"]
        elif isinstance(y_pred, Mapping) and names is None:
            names = list(y_pred)
        predictions = outputs_by_name(y_pred, names, "the result of the model")
        # Resolved at the first batch: only then the names of the outputs are known for every kind of model.
        if self._parts is None:
            self._parts = self._resolved(list(predictions), *settings)
            # Keras lists the losses of a dict in the dict's order, but assigns lists of targets by sorted names.
            self._order = list(y_pred if isinstance(y_pred, Mapping) else predictions)
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

    def _resolved(self, names: list[str], losses_of: Any, weights_of: Any) -> dict[str, Part]:
        specs = _for_each(losses_of, names, "loss")
        weights = _for_each(weights_of, names, "loss_weights") if is_several(weights_of) else None
        several = sum(loss is not None for loss in specs.values()) > 1
        parts = {}
        for name, loss in specs.items():
            if loss is not None:
                weight = weights.get(name) if weights else weights_of
                tracker = LossTracker(f"{name}_loss") if several else None
                parts[name] = Part(losses.as_loss(loss), weight, tracker)
        return parts


def _for_each(setting: Any, names: list[str], what: str) -> dict[str, Any]:
    """Return the value for each output of a setting: one for all, a dict by name, or a list."""
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
    """The metrics of `compile` as one metric, first `metrics`, then `weighted_metrics`.

    See `Model.compile` for `metrics` and `weighted`; `names` are those of the outputs, if known.
    """

    def __init__(self, metrics: Any, weighted: Any, names: Sequence[str] | None) -> None:
        super().__init__(name="compile_metrics")
        self.settings, self.names = (metrics, weighted), names
        for part in self.settings:
            if part is not None and not is_several(part):
                raise OptionError(
                    f"metrics must be a list, not {shown(part)}: write metrics=[{shown(part)}]"
                )
        self._entries: list[tuple[str, str, Metric, bool]] | None = None

    @property
    def metrics(self) -> list[Metric]:
        """The metrics as a list, empty before the first batch, whose shapes select the kind of accuracy."""
        return [metric for _, _, metric, _ in self._entries or ()]

    def update_state(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch."""
        if not any(self.settings):
            return
        names = self.names
        y, sample_weight = flattened(y, y_pred), flattened(sample_weight, y_pred)
        y_pred = flattened(y_pred, y_pred)
        if not is_several(y_pred):
            names = [names[0] if names else "output"]
        predictions = outputs_by_name(y_pred, names, "the result of the model")
        # One output may come as a list of one, and its targets as a plain array.
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
        """Return the results by name."""
        return {name: metric.result() for _, name, metric, _ in self._entries or ()}

    def reset_state(self) -> None:
        """Reset the state."""
        for metric in self.metrics:
            metric.reset_state()


def _metrics_for_each(metrics: Any, names: list[str]) -> dict[str, list[Any]]:
    """Return a list of metrics for each output, by the output's name."""
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
    """Return `name`, with a prefix or number if another metric has that name."""
    # Keras's names: a weighted metric with a name that is taken gets the prefix "weighted_".
    if name in taken and weighted:
        name = f"weighted_{name}"
    if name not in taken:
        return name
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
