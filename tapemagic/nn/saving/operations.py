"""Operators and NumPy functions in models: their names in files, which are those of Keras's operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.tensor.tensor import getitem
from tapemagic.errors import ModelError
from tapemagic.nn import activations
from tapemagic.nn.custom_objects import current_reading
from tapemagic.nn.layers.operation import Operation, Placeholder

NUMPY = "keras.src.ops.numpy"
NEURAL = "keras.src.ops.nn"


class Row(NamedTuple):
    """A function, and how Keras stores it.

    - `module`, `name`: Of Keras's class.
    - `tensors`: The number of positional arguments that are stored with the call.
    - `options`: Keras's names of the next arguments, which are stored with the operation.
    """

    function: Any
    module: str
    name: str
    tensors: int
    options: tuple[str, ...] = ()


def _rows() -> Iterator[Row]:
    pairs = {
        "Add": np.add, "Arctan2": np.arctan2, "Divide": np.true_divide, "Equal": np.equal,
        "FloorDivide": np.floor_divide, "GetItem": getitem, "Greater": np.greater,
        "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal,
        "LogicalAnd": np.logical_and, "LogicalOr": np.logical_or, "Logaddexp": np.logaddexp,
        "Matmul": np.matmul, "Maximum": np.maximum, "Minimum": np.minimum, "Mod": np.mod,
        "Multiply": np.multiply, "NotEqual": np.not_equal, "Power": np.power,
        "Subtract": np.subtract, "TrueDivide": np.true_divide,
    }  # fmt: skip
    singles = {
        "Absolute": np.absolute, "Arccos": np.arccos, "Arcsin": np.arcsin, "Arctan": np.arctan,
        "Ceil": np.ceil, "Conj": np.conjugate, "Cos": np.cos, "Cosh": np.cosh, "Exp": np.exp,
        "Expm1": np.expm1, "Floor": np.floor, "Log": np.log, "Log10": np.log10, "Log1p": np.log1p,
        "Log2": np.log2, "LogicalNot": np.logical_not, "Negative": np.negative,
        "Reciprocal": np.reciprocal, "Sign": np.sign, "Sin": np.sin, "Sinh": np.sinh,
        "Sqrt": np.sqrt, "Square": np.square, "Tan": np.tan, "Tanh": np.tanh,
    }  # fmt: skip
    for name, function in pairs.items():
        yield Row(function, NUMPY, name, 2)
    for name, function in singles.items():
        yield Row(function, NUMPY, name, 1)
    for name, function in {"Sum": np.sum, "Mean": np.mean, "Prod": np.prod, "Std": np.std}.items():
        yield Row(function, NUMPY, name, 1, ("axis", "keepdims"))
    for name, function in {"Max": np.max, "Min": np.min, "Var": np.var}.items():
        yield Row(function, NUMPY, name, 1, ("axis", "keepdims"))
    yield Row(np.concatenate, NUMPY, "Concatenate", 1, ("axis",))
    yield Row(np.stack, NUMPY, "Stack", 1, ("axis",))
    yield Row(np.expand_dims, NUMPY, "ExpandDims", 1, ("axis",))
    yield Row(np.squeeze, NUMPY, "Squeeze", 1, ("axis",))
    yield Row(np.reshape, NUMPY, "Reshape", 1, ("newshape",))
    yield Row(np.transpose, NUMPY, "Transpose", 1, ("axes",))
    yield Row(np.swapaxes, NUMPY, "Swapaxes", 1, ("axis1", "axis2"))
    for name in ("Relu", "Sigmoid", "Silu", "Softplus", "Softsign", "Tanh"):
        yield Row(getattr(activations, name.lower()), NEURAL, name, 1)
    yield Row(activations.softmax, NEURAL, "Softmax", 1, ("axis",))


_ROWS = list(_rows())
# The later row of a function is the one that is written: TrueDivide is the class of the operator /.
_BY_FUNCTION = {row.function: row for row in _ROWS}
_BY_NAME = {row.name: row for row in reversed(_ROWS)}

_OURS = {"newshape": "shape"}
"""NumPy's names of arguments, where Keras has others."""


def operation_config(operation: Operation, inputs: list[Any]) -> tuple[dict[str, Any], Any, Any]:
    """Return the config of an operation, and the arguments of its call with symbolic tensors among them.

    Raises ModelError for a function that Keras's files don't have.
    """
    args, kwargs = _filled(operation.arguments, iter(inputs))
    row = _BY_FUNCTION.get(operation.function)
    if row is None:
        raise ModelError(
            f"a file can't contain the function {operation.kind} that the model calls: write a layer with a method "
            "call(self, inputs) around it, and register it"
        )
    first, rest = args[: row.tensors], args[row.tensors :]
    keywords = {_OURS.get(name, name): name for name in row.options}
    # NumPy's reductions have dtype and out between axis and keepdims.
    positions = (
        ("axis", "dtype", "out", "keepdims") if "keepdims" in row.options else tuple(keywords)
    )
    options = {
        name: value for name, value in zip(positions, rest, strict=False) if value is not None
    }
    options |= {name: value for name, value in kwargs.items() if value is not None}
    unknown = [name for name in options if name not in keywords]
    if unknown or len(rest) > len(positions):
        raise ModelError(
            f"a file can't contain {operation.kind} with {unknown[0] if unknown else 'so many arguments'}=: write a "
            "layer with a method call(self, inputs) around it, and register it"
        )
    config = {keywords[name]: value for name, value in options.items()}
    place = {"module": row.module, "class_name": row.name}
    return (
        {**place, "config": {"name": operation.name, **config}, "registered_name": row.name},
        first,
        {},
    )


def is_operation(config: Mapping[str, Any]) -> bool:
    """Return True for the config of an operation."""
    if "module" in config:
        return str(config["module"]).startswith("keras.src.ops")
    # An .h5 file has no modules: layers such as Multiply differ from operations by their options.
    return config.get("class_name") in _BY_NAME and set(config["config"]).isdisjoint(
        {"trainable", "dtype"}
    )


def operation_from_config(config: Mapping[str, Any], args: Any, kwargs: Any) -> Operation:
    """Create an operation for the arguments of its call, or raise ModelError."""
    row = _BY_NAME.get(config["class_name"])
    options = {name: value for name, value in config["config"].items() if value is not None}
    name = options.pop("name", None)
    # Keras's constructors of reductions also have an option `initial`, and concatenations an input of lists.
    if row is None or set(options) - set(row.options):
        raise ModelError(
            f"{current_reading().source} contains the operation {config['class_name']} ({name!r}) with the options "
            f"{options}, which tapemagic doesn't have"
        )
    keywords = {_OURS.get(key, key): _tupled(value) for key, value in options.items()}
    operation = Operation(row.function, args, {**kwargs, **keywords})
    if isinstance(name, str):
        operation._name = name
    return operation


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _filled(structure: Any, inputs: Iterator[Any]) -> Any:
    """Replace the placeholders in stored arguments by symbolic tensors."""
    if structure is Placeholder.INPUT:
        return next(inputs)
    if type(structure) in {list, tuple}:
        return type(structure)([_filled(part, inputs) for part in structure])
    if type(structure) is dict:
        return {name: _filled(part, inputs) for name, part in structure.items()}
    return structure
