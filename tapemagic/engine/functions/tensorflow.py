"""Derivatives of functions by TensorFlow's names: gradients_function, implicit_grad and similar functions."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import wraps
from typing import Any

from tapemagic.engine.functions.arguments import (
    argument,
    checked_positions,
    checked_result,
    checked_tensor,
    name_of,
    second,
)
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.registry import Function
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.messages import require_function, shown
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.errors import FunctionError, OptionError

Params = Sequence[int] | Sequence[str] | None


def make_vjp(function: Function, params: Params = None, persistent: bool = True) -> Function:
    """Return a function that computes `function` and its vector-Jacobian product.

    Parameters
    ----------
    function : callable
        A function of tensors, passed by position, that returns a tensor or a structure of tensors.
    params : sequence of int or of str, optional
        The positions or names of the arguments to differentiate with respect to. Default: all arguments.
    persistent : bool, optional
        Whether the second function can be called more than once.

    Returns
    -------
    callable
        ``make_vjp(f)(*args)`` returns a pair: the value, and ``vjp(dy=None)``, which returns the list of gradients,
        weighted by `dy` (default: ones).

    Raises
    ------
    OptionError
        If `params` mixes names and positions, or contains a name or position that the function doesn't have.
    FunctionError
        If `function` isn't callable. When called, if it returns None, or receives keyword arguments.
    NotATensorError
        When called, if an argument is not numeric; in ``vjp``, if the function didn't return a tensor.

    Examples
    --------
    >>> import tapemagic as tm
    >>> value, vjp = tm.make_vjp(lambda x: x * x)(3.0)
    >>> value, vjp(), vjp(10.0)
    (Tensor(9.0), [Tensor(6.0)], [Tensor(60.0)])
    """
    require_function(function)

    @wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise FunctionError(
                "Functions to be differentiated cannot receive keyword arguments. "
                f"Pass {', '.join(kwargs)} by position"
            )
        chosen = _positions(function, params, len(args))
        inputs = list(args)
        for k in chosen:
            inputs[k] = _separate(args[k], function, k)
        sources = [inputs[k] for k in chosen]
        with Tape(persistent=persistent) as tape:
            tape.watch([x for x in leaves(sources) if x.dtype.kind in "fc"])
            result = checked_result(function, function(*inputs))

        def vjp(dy: Any = None) -> Any:
            for y in leaves(result):
                checked_tensor(function, y)
            return tape.gradient(result, sources, output_gradients=dy)

        return result, vjp

    return decorated


def _separate(x: Any, function: Function, position: int) -> Any:
    """Convert an argument to new tensors, in the structure in which tensors were passed."""
    parts = leaves(x)
    if not any(isinstance(part, Traced) for part in parts):
        return argument(x, function, position)
    return pack(x, [argument(part, function, position) for part in parts])


def _positions(function: Function, params: Params, count: int) -> list[int]:
    """Return the positions of the arguments to differentiate with respect to."""
    if params is None:
        return list(range(count))
    if isinstance(params, str) or not isinstance(params, Sequence):
        raise OptionError(
            f"params must be a list of names or positions, not {shown(params)}: write params=[0], or params=['x']"
        )
    if not params:
        raise OptionError("params is empty: name at least one argument, or leave it out for all")
    if all(isinstance(p, str) for p in params):
        names = _parameters(function)
        unknown = [p for p in params if p not in names]
        if unknown:
            raise OptionError(
                f"params names {unknown[0]!r}, which {name_of(function)} does not have: "
                f"its arguments are {', '.join(names)}"
            )
        missing = [p for p in params if names.index(str(p)) >= count]
        if missing:
            raise OptionError(
                f"params names {missing[0]!r}, which {name_of(function)} did not receive: pass it by position"
            )
        return [names.index(str(p)) for p in params]
    if not all(isinstance(p, int) and not isinstance(p, bool) for p in params):
        raise OptionError(f"params must be all strings or all integers; got {shown(list(params))}.")
    return checked_positions([int(p) for p in params], "params", function, count)


def _parameters(function: Function) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        raise OptionError(
            f"params has names, but Python can't inspect the parameters of {name_of(function)}: use positions"
        ) from None


def value_and_gradients_function(function: Function, params: Params = None) -> Function:
    """Return a function that computes `function` and its gradients.

    Parameters
    ----------
    function, params
        See `make_vjp`, which raises the same errors.

    Returns
    -------
    callable
        ``value_and_gradients_function(f)(*args, dy=None)`` returns a pair: the value, and the list of the gradients
        with respect to the arguments, None for unconnected arguments.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.value_and_gradients_function(lambda x, y: x * y)(2.0, 3.0)
    (Tensor(6.0), [Tensor(3.0), Tensor(2.0)])
    """
    differentiable = make_vjp(function, params, persistent=False)

    @wraps(function)
    def decorated(*args: Any, dy: Any = None, **kwargs: Any) -> Any:
        value, vjp = differentiable(*args, **kwargs)
        return value, vjp(dy)

    return decorated


val_and_grad_function = value_and_gradients_function


def gradients_function(function: Function, params: Params = None) -> Function:
    """Return a function that computes the gradients of `function`.

    Parameters
    ----------
    function, params
        See `make_vjp`, which raises the same errors.

    Returns
    -------
    callable
        ``gradients_function(f)(*args, dy=None)`` returns the list of the gradients with respect to the arguments,
        None for unconnected arguments.

    Examples
    --------
    >>> import tapemagic as tm
    >>> square = lambda x: x * x
    >>> df = tm.gradients_function(square)
    >>> ddf = tm.gradients_function(lambda x: df(x)[0])
    >>> df(3.0), ddf(3.0)
    ([Tensor(6.0)], [Tensor(2.0)])
    """
    return second(value_and_gradients_function(function, params))


def implicit_val_and_grad(function: Function) -> Function:
    """Return a function that computes `function`, and its gradients with respect to the variables that it reads.

    Raises FunctionError when called, if the function reads no trainable variable, or returns None.

    Parameters
    ----------
    function : callable
        A function that reads trainable variables, and returns a tensor or a structure of tensors.

    Returns
    -------
    callable
        ``implicit_val_and_grad(f)(*args)`` returns a pair: the value, and a list of pairs of gradient and variable,
        in the order of the variables' creation, which an optimizer accepts.

    Examples
    --------
    >>> import tapemagic as tm
    >>> w = tm.Variable(3.0, name="w")
    >>> tm.implicit_val_and_grad(lambda x: x * w)(2.0)
    (Tensor(6.0), [(Tensor(2.0), Variable(3.0, name='w'))])
    """
    require_function(function)

    @wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with Tape() as tape:
            result = checked_result(function, function(*args, **kwargs))
        # Sorted by creation, as optimizers expect them.
        variables = list(tape.watched_variables())
        if not variables:
            raise FunctionError(
                "No trainable variables were accessed while the function was being computed: "
                f"{name_of(function)} has to read a tapemagic.Variable; for gradients with respect to arguments, "
                "use gradients_function or grad"
            )
        for y in leaves(result):
            checked_tensor(function, y)
        gradients = tape.gradient(result, variables)
        return result, list(zip(gradients, variables, strict=True))

    return decorated


def implicit_grad(function: Function) -> Function:
    """Return a function that computes the gradients of `function` with respect to the variables that it reads.

    Parameters
    ----------
    function : callable
        See `implicit_val_and_grad`, which raises the same errors.

    Returns
    -------
    callable
        ``implicit_grad(f)(*args)`` returns the list of pairs of gradient and variable.

    Examples
    --------
    >>> import tapemagic as tm
    >>> w = tm.Variable(3.0, name="w")
    >>> [(gradient, variable)] = tm.implicit_grad(lambda x: x * w * w)(2.0)
    >>> gradient
    Tensor(12.0)
    """
    return second(implicit_val_and_grad(function))
