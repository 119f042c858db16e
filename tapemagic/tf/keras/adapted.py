"""Adapt classes and functions of tapemagic.nn to TensorFlow's tensors and variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np

from tapemagic import nn
from tapemagic.engine.tensor.tensor import Traced, plain
from tapemagic.nn.attached_masks import carried
from tapemagic.nn.custom_objects import reading
from tapemagic.tf.core.adapter import adapter
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.tensor import Eager, eager
from tapemagic.tf.core.variable import ResourceVariable


def plain_in(value: Any) -> Any:
    """Replace EagerTensors in a structure by engine tensors, and variables by their values."""
    if isinstance(value, Eager):
        return carried(value, plain(value))
    kind = value.__class__
    if kind is tuple or kind is list:
        return kind(map(plain_in, value))
    if kind is TensorShape:
        return tuple(value)
    if kind is dict:
        return {name: plain_in(x) for name, x in value.items()}
    return value


def _on_eager_tensors(
    method: Callable[..., Any], convert: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Wrap a method of a user class so that it receives EagerTensors, to which `convert` converts its arguments."""

    @wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *map(convert, args), **{name: convert(x) for name, x in kwargs.items()})

    return called


def _tensor(data: Any) -> Any:
    """Return an EagerTensor for an engine tensor, and any other value unchanged."""
    return eager(data) if isinstance(data, Traced) else data


def _tensors(data: Any) -> Any:
    """Replace engine tensors and arrays in a structure by EagerTensors."""
    return eager(data) if isinstance(data, Traced | np.ndarray | list | tuple | dict) else data


class Adapted:
    """Mix-in for a class of tapemagic.nn: results, and arguments of user methods, are EagerTensors."""

    _library = "tapemagic.tf.keras"
    _methods_on_tensors: ClassVar[tuple[str, ...]] = ()
    """Methods that users override, which then receive EagerTensors."""

    _converts = staticmethod(_tensors)
    """The conversion of their arguments."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in cls._methods_on_tensors:
            method = vars(cls).get(name)
            # Only plain functions of this class: inherited methods are wrapped already, or belong to tapemagic.nn.
            if isinstance(method, FunctionType):
                setattr(cls, name, _on_eager_tensors(method, cls._converts))
        super().__init_subclass__(**kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object; results are EagerTensors."""
        # Engine tensors inside: the layers rely on NumPy's promotion of dtypes, which EagerTensors refuse.
        result = super().__call__(*plain_in(args), **plain_in(kwargs))  # type: ignore[misc]
        return eager(result)


class Layer(Adapted, nn.Layer):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.Layer.__doc__

    _methods_on_tensors: ClassVar[tuple[str, ...]] = ("call",)
    variable_class = ResourceVariable

    @property
    def losses(self) -> list[Any]:
        """Loss terms of regularizers and `add_loss`, of this layer and its sublayers."""
        return [eager(loss) for loss in super().losses]


class Model(Layer, nn.Model):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.Model.__doc__

    _methods_on_tensors: ClassVar[tuple[str, ...]] = (
        "call",
        "train_step",
        "test_step",
        "predict_step",
    )
    _batch_tensors = staticmethod(_tensors)


class Loss(Adapted, nn.losses.Loss):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.losses.Loss.__doc__

    _methods_on_tensors: ClassVar[tuple[str, ...]] = ("call",)


class Metric(Adapted, nn.metrics.Metric):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.metrics.Metric.__doc__

    _prefixes_names = False
    _methods_on_tensors: ClassVar[tuple[str, ...]] = ("update_state",)
    # As in Keras, metrics receive arrays unchanged, which adopt the dtype of a tensor: y_true - y_pred works.
    _converts = staticmethod(_tensor)

    def result(self) -> Any:
        """Return the current value of the metric."""
        return eager(super().result())


class Initializer(Adapted, nn.initializers.Initializer):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.initializers.Initializer.__doc__


class Constraint(Adapted, nn.constraints.Constraint):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.constraints.Constraint.__doc__


class Optimizer(nn.optimizers.Optimizer):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.optimizers.Optimizer.__doc__

    _library = "tapemagic.tf.keras"
    variable_class = ResourceVariable

    # `getter` keeps the setter of the inherited property.
    @nn.optimizers.Optimizer.learning_rate.getter  # type: ignore[attr-defined, untyped-decorator]
    def learning_rate(self) -> Any:
        """The learning rate of the next step."""
        return eager(nn.optimizers.Optimizer.learning_rate.fget(self))  # type: ignore[attr-defined]


class Regularizer(Adapted, nn.regularizers.Regularizer):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.regularizers.Regularizer.__doc__


def adapt(
    module: ModuleType, into: str, base: type | None = None, original: type | None = None
) -> dict[str, Any]:
    """Adapt the public names of a module of tapemagic.nn for the tf.keras module `into`.

    `base` replaces `original`, and is mixed into its subclasses; functions return EagerTensors; all else stays
    unchanged.
    """
    names: dict[str, Any] = {}
    for name in module.__all__:
        value = getattr(module, name)
        if value is original:
            value = base
        elif base is not None and isinstance(value, type) and issubclass(value, original or value):
            members = {
                "__doc__": value.__doc__,
                "__module__": into,
                "__qualname__": value.__qualname__,
            }
            value = type(value.__name__, (base, value), members)
        # `get` looks up functions and classes by name, and returns no tensors.
        elif isinstance(value, FunctionType) and name != "get":
            value = adapter(value)
        names[name] = value
    return names


def config_functions(names: dict[str, Any]) -> dict[str, Any]:
    """Return Keras's functions `serialize` and `deserialize` for a module with these names."""

    def serialize(obj: Any) -> Any:
        """Return the config of an object, or the name of a function of this module."""
        name = getattr(obj, "__name__", None)
        return name if names.get(str(name)) is obj else nn.saving.serialize_keras_object(obj)

    def deserialize(config: Any, custom_objects: Any = None) -> Any:
        """Create the object that a config or a name describes."""
        if isinstance(config, str) and config in names and config not in (custom_objects or {}):
            return names[config]
        with reading("tapemagic.tf.keras"), nn.saving.custom_object_scope(custom_objects or {}):
            if isinstance(config, str):
                return names["get"](config)
            return nn.saving.deserialize_keras_object(config)

    return {"serialize": serialize, "deserialize": deserialize}
