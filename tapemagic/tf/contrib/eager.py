"""TensorFlow 1's ``tf.contrib.eager``: derivatives of functions, as functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from tapemagic.engine.functions import tensorflow as functions
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tensor.messages import require_function
from tapemagic.tape import GradientTape
from tapemagic.tf.core.convert import is_python, tensor
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.core.variable import ResourceVariable as Variable
from tapemagic.tf.ops.about import executing_eagerly
from tapemagic.tf.ops.function import function as defun
from tapemagic.tf.ops.gradients import custom_gradient

Function = Callable[..., Any]

__all__ = [
    "GradientTape", "Variable", "custom_gradient", "defun", "executing_eagerly",
    "gradients_function", "implicit_gradients", "implicit_value_and_gradients", "num_gpus",
    "value_and_gradients_function",
]  # fmt: skip


def _on_eager(function: Function) -> Function:
    """Wrap a function for the engine so that it receives EagerTensors."""
    require_function(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        result = function(*eager(args), **eager(kwargs))
        # A function may return plain numbers: with TensorFlow's dtypes, or the gradient of a float32 function would be
        # float64.
        return pack(result, [tensor(y) if _is_value(y) else y for y in leaves(result)])

    return called


def _is_value(y: Any) -> bool:
    return y is not None and not isinstance(y, str)


def _arguments(args: tuple[Any, ...]) -> list[Any]:
    """Convert numbers to TensorFlow's dtypes; variables and other objects stay unchanged."""
    return [
        tensor(x) if is_python(x) or isinstance(x, (np.ndarray, np.generic)) else x for x in args
    ]


def _adapted(transform: Function, function: Function, *options: Any) -> Function:
    """Apply an engine transformation to a function, with EagerTensors as arguments and results."""
    inner = transform(_on_eager(function), *options)

    @wraps(function)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        return eager(inner(*_arguments(args), **kwargs))

    return adapted


def gradients_function(f: Function, params: Any = None) -> Function:
    """Return a function that computes the gradients of `f`; see `tapemagic.gradients_function`.

    Parameters
    ----------
    f : callable
        Takes tensors as positional arguments.
    params : sequence of int or of str, optional
        The arguments to differentiate with respect to. Default: all.

    Returns
    -------
    callable
        Returns the list of gradients.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tfe = tf.contrib.eager
    >>> print(tfe.gradients_function(lambda x: x * x)(3.0)[0])
    tf.Tensor(6.0, shape=(), dtype=float32)
    """
    return _adapted(functions.gradients_function, f, params)


def value_and_gradients_function(f: Function, params: Any = None) -> Function:
    """Return a function that computes `f` and its gradients; see `tapemagic.value_and_gradients_function`."""
    return _adapted(functions.value_and_gradients_function, f, params)


def implicit_value_and_gradients(f: Function) -> Function:
    """Return a function that computes `f` and its gradients with respect to the variables it reads."""
    inner = functions.implicit_val_and_grad(_on_eager(f))

    @wraps(f)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        value, pairs = inner(*args, **kwargs)
        return eager(value), [(eager(g), v) for g, v in pairs]

    return adapted


def implicit_gradients(f: Function) -> Function:
    """Return a function that computes (gradient, variable) pairs for the variables that `f` reads."""
    both = implicit_value_and_gradients(f)
    return wraps(f)(lambda *args, **kwargs: both(*args, **kwargs)[1])


def num_gpus() -> int:
    """Return 0: there are no GPUs."""
    return 0


__getattr__ = missing(__name__, __all__)
