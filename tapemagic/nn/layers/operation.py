"""Operation: an operator, an index or a function of NumPy on symbolic tensors, as a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import getitem
from tapemagic.errors import NotNumbersError, UnsupportedArgumentError
from tapemagic.nn.layer import Layer
from tapemagic.nn.module import unique_name
from tapemagic.nn.symbolic import SymbolicTensor, has_symbolic, symbolic_in


class Place(Enum):
    """A mark among the arguments that an operation keeps."""

    INPUT = 0


class Operation(Layer):
    """A function of tensors as a layer, with the other arguments of the call.

    Parameters
    ----------
    function : callable
    args, kwargs : tuple, dict
        The arguments of a call, with symbolic tensors in the places that are filled when the layer is called.

    Examples
    --------
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
        self.kind = "GetItem" if function is getitem else function.__name__.title().replace("_", "")
        self._name = unique_name(self.kind)
        self.function = function
        self.arguments = self._kept((args, kwargs))
        self.built = True

    def _kept(self, structure: Any) -> Any:
        """The arguments with marks in the places of symbolic tensors; floating-point arrays of the layer's dtype."""
        if isinstance(structure, SymbolicTensor):
            return Place.INPUT
        if type(structure) in {list, tuple}:
            return type(structure)(map(self._kept, structure))
        if type(structure) is dict:
            return {name: self._kept(part) for name, part in structure.items()}
        return self._as_input(structure) if isinstance(structure, np.ndarray) else structure

    def call(self, *inputs: Any) -> Any:
        """The function of the arguments, with the inputs in their places."""
        args, kwargs = _filled(self.arguments, iter(inputs))
        return self.function(*args, **kwargs)


def _filled(structure: Any, inputs: Iterator[Any]) -> Any:
    if structure is Place.INPUT:
        return next(inputs)
    if type(structure) in {list, tuple}:
        return type(structure)([_filled(part, inputs) for part in structure])
    if type(structure) is dict:
        return {name: _filled(part, inputs) for name, part in structure.items()}
    return structure


def _operation(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The symbolic tensor that a function gives for symbolic tensors among its arguments."""
    return Operation(function, args, kwargs)(*symbolic_in((*args, *kwargs.values())))


def _array_ufunc(_self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if method != "__call__" or kwargs.get("out") is not None:
        form = "out=..." if method == "__call__" else method
        raise UnsupportedArgumentError(
            f"np.{ufunc.__name__} with {form} does not take symbolic tensors: write np.{ufunc.__name__}(...) of them "
            "alone, or a layer with a method call(self, inputs)"
        )
    return _operation(ufunc, inputs, kwargs)


def _array_function(self: Any, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
    if function in {np.shape, np.ndim}:
        return self.shape if function is np.shape else self.ndim
    return _operation(function, args, kwargs)


def _item(self: Any, index: Any) -> Any:
    if has_symbolic([index]):
        raise NotNumbersError(
            "a symbolic tensor is no index: write np.take_along_axis(x, indices, axis), or a layer with a method "
            "call(self, inputs)"
        )
    return _operation(getitem, (self, index), {})


def _tape_function(_self: Any, function: Any, args: Any, kwargs: Any) -> Any:
    return _operation(function, args, kwargs)


SymbolicTensor.__tape_function__ = _tape_function
SymbolicTensor.__array_ufunc__ = _array_ufunc  # type: ignore[method-assign, assignment]
SymbolicTensor.__array_function__ = _array_function
SymbolicTensor.__getitem__ = _item
