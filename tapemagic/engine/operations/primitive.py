"""Functions that tapes record beside NumPy's own: `primitive` for this package's, `register_vjp` for the user's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine import registry
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tensor.dispatch import apply_elementwise, call
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor, tensors_in
from tapemagic.engine.tracing import listener
from tapemagic.errors import FunctionError

F = TypeVar("F", bound=Callable[..., Any])

DISPATCHED = (np.ufunc, type(np.sum))
"""The kinds of functions that follow NumPy's protocols, so that tensors among the arguments are recorded."""

ARRAYS = {np.ndarray}
"""The classes of arguments that are nothing but values: no tensors, nothing that stands for one or is traced."""


@cache
def _may_stand_for_values(kind: type) -> bool:
    """Whether arguments of a class may stand for values that they do not hold."""
    return hasattr(kind, "__tape_function__") or hasattr(kind, "__dask_graph__")


def is_bare_lazy(x: Any) -> bool:
    """Whether something is an array of Dask's own, and not yet the value of a tensor."""
    return is_lazy(x) and not isinstance(x, np.ndarray)


def primitive(function: F) -> F:
    """Make a function of arrays an operation: with tensors among its arguments, it is recorded like a NumPy function.

    The function itself computes on arrays; called with a tensor, or a list that holds one, it is
    recorded. Its rules are given with ``vjp(function, ...)``. An argument that is no value, but stands for one, has a
    method ``__tape_function__(function, args, kwargs)``, which is called instead.
    """

    @wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and args[0].__class__ is Tensor and not kwargs:
            operation = registry.OPERATIONS.get(recorded)
            if operation is not None and operation.pointwise and operation.rules:
                return apply_elementwise(operation, args[0])
        if tensors_in(args) or (kwargs and tensors_in(kwargs.values())):
            return call(recorded, args, kwargs)
        if not kwargs and set(map(type, args)) == ARRAYS:
            return function(*args)
        for x in args:
            kind: Any = type(x)
            if not _may_stand_for_values(kind):
                continue
            if hasattr(x, "__tape_function__"):
                return x.__tape_function__(recorded, args, kwargs)
            if is_bare_lazy(x):
                given = [Tensor(x) if is_bare_lazy(x) else x for x in args]
                return recorded(*given, **kwargs)
        return on_arrays(*args, **kwargs)

    def on_arrays(*args: Any, **kwargs: Any) -> Any:
        one = listener(args, kwargs)
        return function(*args, **kwargs) if one is None else one.call(recorded, args, kwargs)

    recorded.on_arrays = on_arrays  # type: ignore[attr-defined]
    return recorded  # type: ignore[return-value]


def register_vjp(
    function: Callable[..., Any], *rules: Callable[..., Any] | None, ignores: str = ""
) -> Callable[..., Any]:
    """Give a function a derivative rule (vector-Jacobian product) for each of its array arguments.

    Parameters
    ----------
    function : callable
        A function of arrays: one of your own, of another package, or one of NumPy's without a rule. It must not
        write into its arguments.
    *rules : callable or None
        One for each of the first arguments of `function`, None for one without derivative: a Python function
        ``rule(g, y, *args, **kwargs)`` of the gradient `g` with respect to the result, the result `y`, and the
        arguments of the call. It returns the gradient with respect to its argument, in the shape of that or of `y`:
        what broadcasting repeated is summed up afterwards.
    ignores : str, optional
        Names of keyword arguments on which no derivative depends, separated by spaces.

    Returns
    -------
    callable
        What to call in the place of `function`: it computes the same, and is recorded by tapes that track one of the
        arguments. For NumPy's functions and all ufuncs this is `function` itself.

    Raises
    ------
    FunctionError
        If `function` or a rule cannot be called, there are no rules, or a rule takes too few arguments.
    ValueError
        If `function` has rules already.

    See Also
    --------
    custom_gradient : The same for one function that returns its result together with its gradient.
    check_gradients : Compares rules with difference quotients.

    Notes
    -----
    TensorFlow's word for this is ``tf.RegisterGradient``. A rule is made of NumPy's functions, and recorded by outer
    tapes as any other code is: this gives second derivatives. A parameter of a rule whose name starts with an
    underscore is not read, and the tape does not keep its value. In ``tape.jacobian``, `g` has one more axis in
    front, so that a rule counts axes from the end.

    Examples
    --------
    >>> import math
    >>> import numpy as np, tapemagic as tm
    >>> def cube(x):
    ...     return x * x * x
    >>> cube = tm.register_vjp(cube, lambda g, _y, x: g * 3 * x**2)
    >>> x = tm.Variable(2.0)
    >>> with tm.GradientTape() as tape:
    ...     y = cube(x)
    >>> tape.gradient(y, x)
    Tensor(12.0)
    """
    if not callable(function):
        raise FunctionError(
            f"register_vjp takes a function and its rules, not {shown(function)}: write "
            "register_vjp(f, lambda g, y, x: ...)"
        )
    if not rules:
        raise FunctionError(
            f"register_vjp({shown(function)}) needs a rule for each array argument: write "
            "register_vjp(f, lambda g, y, x: ...)"
        )
    for rule in rules:
        if rule is not None:
            _require_rule(rule, 2 + len(rules))
    recorded = function if isinstance(function, DISPATCHED) else primitive(_on_arrays(function))
    registry.vjp(recorded, *rules, ignores=ignores)
    return recorded


def _require_rule(rule: Any, count: int) -> None:
    """Refuse a rule whose parameters cannot be read, or that takes fewer than `count` arguments."""
    code = getattr(rule, "__code__", None)
    if code is None:
        raise FunctionError(
            f"a rule is a Python function (g, y, *args, **kwargs), not {shown(rule)}: write "
            "lambda g, y, x: ... around it"
        )
    takes_any = bool(code.co_flags & 0x04)  # inspect.CO_VARARGS
    if code.co_argcount < count and not takes_any:
        raise FunctionError(
            f"a rule takes the gradient, the result and every argument that has a rule, here {count} in all, and "
            f"{shown(rule)} takes {code.co_argcount}: write lambda g, y, "
            f"{', '.join(f'x{k + 1}' for k in range(count - 2))}: ..."
        )


def _on_arrays(function: F) -> F:
    """A function called with read-only views, whose results share no memory with its arguments."""

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        given = [_read_only(x) for x in args]
        found = function(*given, **kwargs)
        if isinstance(found, tuple):
            return tuple(_own(y, given) for y in found)
        return _own(found, given)

    return computed  # type: ignore[return-value]


def _read_only(x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    view = x.view()
    view.flags.writeable = False
    return view


def _own(y: Any, given: list[Any]) -> Any:
    if not isinstance(y, (np.ndarray, np.generic)):
        y = np.asarray(y)
    if any(isinstance(x, np.ndarray) and np.may_share_memory(x, y) for x in given):
        y = y.copy()
    return y if y.ndim else y[()]
