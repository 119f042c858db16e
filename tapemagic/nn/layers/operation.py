"""Operation: an operator, an index or a NumPy function on symbolic tensors, as a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import getitem
from tapemagic.errors import NotNumbersError, UnsupportedArgumentError
from tapemagic.nn.identifiers import snake_case
from tapemagic.nn.layer import Layer
from tapemagic.nn.module import unique_name
from tapemagic.nn.symbolic import SymbolicTensor, calls, has_symbolic, symbolic_in


class Placeholder(Enum):
    """Placeholder for a symbolic tensor among the stored arguments of an operation."""

    INPUT = 0


class Operation(Layer):
    """A function of tensors as a layer, which stores the other arguments of the call.

    Parameters
    ----------
    function : callable
    args, kwargs : tuple, dict
        The arguments of a call. Symbolic tensors among them are replaced by the layer's inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> x = nn.Input((3,))
    >>> model = nn.Model(x, np.exp(x)[:, 0] + 1)
    >>> model(np.zeros((1, 3))).numpy()
    array([2.], dtype=float32)
    >>> [layer.kind for layer in model.operations]
    ['Exp', 'GetItem', 'Add']
    """

    is_boxed = False

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> None:
        super().__init__()
        # Keras's names of operation layers, such as GetItem and Add, are those that summaries show.
        self.kind = "GetItem" if function is getitem else function.__name__.title().replace("_", "")
        # Inside a layer's call, an operation is no layer of the model, and takes none of its automatic names.
        self._name = snake_case(self.kind) if calls.stack else unique_name(self.kind)
        self.function = function
        self.arguments = self._with_placeholders((args, kwargs))
        self.built = True

    def _with_placeholders(self, structure: Any) -> Any:
        """Replace symbolic tensors by placeholders, and convert arrays to tensors of the layer's dtype."""
        if isinstance(structure, SymbolicTensor):
            return Placeholder.INPUT
        if type(structure) in {list, tuple}:
            return type(structure)(map(self._with_placeholders, structure))
        if type(structure) is dict:
            return {name: self._with_placeholders(part) for name, part in structure.items()}
        return self._as_input(structure) if isinstance(structure, np.ndarray) else structure

    supports_masking = True

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return None: operators drop masks without a warning, as in Keras."""

    def call(self, *inputs: Any) -> Any:
        """Call the function with the inputs instead of the placeholders."""
        args, kwargs = _filled(self.arguments, iter(inputs))
        return self.function(*args, **kwargs)


def _filled(structure: Any, inputs: Iterator[Any]) -> Any:
    if structure is Placeholder.INPUT:
        return next(inputs)
    if type(structure) in {list, tuple}:
        return type(structure)([_filled(part, inputs) for part in structure])
    if type(structure) is dict:
        return {name: _filled(part, inputs) for name, part in structure.items()}
    return structure


def _operation(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the symbolic result of a function with symbolic tensors among its arguments."""
    return Operation(function, args, kwargs)(*symbolic_in((*args, *kwargs.values())))


def _array_ufunc(_self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if method != "__call__" or kwargs.get("out") is not None:
        form = "out=..." if method == "__call__" else method
        raise UnsupportedArgumentError(
            f"np.{ufunc.__name__} with {form} doesn't take symbolic tensors: write np.{ufunc.__name__}(x), or a layer "
            "with a method call(self, inputs)"
        )
    return _operation(ufunc, inputs, kwargs)


def _array_function(self: Any, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
    if function in {np.shape, np.ndim}:
        return self.shape if function is np.shape else self.ndim
    return _operation(function, args, kwargs)


def _item(self: Any, index: Any) -> Any:
    if has_symbolic([index]):
        raise NotNumbersError(
            "a symbolic tensor can't be an index: write np.take_along_axis(x, indices, axis), or a layer with a method "
            "call(self, inputs)"
        )
    return _operation(getitem, (self, index), {})


def _tape_function(_self: Any, function: Any, args: Any, kwargs: Any) -> Any:
    return _operation(function, args, kwargs)


# Assigned here, because symbolic.py can't import this module: Operation is a Layer, and layer.py imports symbolic.py.
SymbolicTensor.__tape_function__ = _tape_function
SymbolicTensor.__array_ufunc__ = _array_ufunc  # type: ignore[method-assign, assignment]
SymbolicTensor.__array_function__ = _array_function
SymbolicTensor.__getitem__ = _item
