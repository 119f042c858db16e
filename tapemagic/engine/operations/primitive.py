"""Functions that tapes record in addition to NumPy's: `primitive` for this package, `register_vjp` for users."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, overload

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
"""Types of functions that follow NumPy's protocols, so that tensors among the arguments are recorded."""

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec, Protocol

    from tapemagic.engine.tensor.result_types import HasResults, R_co

    P = ParamSpec("P")

    class Primitive(Protocol[P]):
        """An operation of this package, which returns a tensor for a tensor."""

        __name__: str

        @overload
        def __call__(self, x: HasResults[R_co], /, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
        @overload
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


PLAIN_VALUES = frozenset({np.ndarray, np.float64, np.float32})
"""Frequent types of arguments that are plain values: no tensors, no placeholders, nothing traced."""


@cache
def _may_be_placeholder(kind: type) -> bool:
    """Return True if arguments of a class may be placeholders for values that they don't hold."""
    return hasattr(kind, "__tape_function__") or hasattr(kind, "__dask_graph__")


def is_bare_lazy(x: Any) -> bool:
    """Return True for a Dask array that isn't yet the value of a tensor."""
    return is_lazy(x) and not isinstance(x, np.ndarray)


def primitive(function: Callable[Concatenate[Any, P], Any]) -> Primitive[P]:
    """Turn a function of arrays into an operation, which is recorded like a NumPy function if an argument is a tensor.

    The function itself computes with arrays. Its rules are defined by ``vjp(function, ...)``. A placeholder for a
    value has a method ``__tape_function__(function, args, kwargs)``, which is called instead.
    """

    @wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        # The most frequent call comes first: an elementwise function of a single tensor.
        if len(args) == 1 and args[0].__class__ is Tensor and not kwargs:
            operation = registry.OPERATIONS.get(recorded)
            if operation is not None and operation.pointwise and operation.rules:
                return apply_elementwise(operation, args[0])
        if not kwargs and PLAIN_VALUES.issuperset(map(type, args)):
            return function(*args)  # type: ignore[call-arg]
        if tensors_in(args) or (kwargs and tensors_in(kwargs.values())):
            return call(recorded, args, kwargs)
        for x in args:
            kind: Any = type(x)
            if not _may_be_placeholder(kind):
                continue
            if hasattr(x, "__tape_function__"):
                return x.__tape_function__(recorded, args, kwargs)
            if is_bare_lazy(x):
                tensors = [Tensor(x) if is_bare_lazy(x) else x for x in args]
                return recorded(*tensors, **kwargs)
        return on_arrays(*args, **kwargs)

    def on_arrays(*args: Any, **kwargs: Any) -> Any:
        recorder = listener(args, kwargs)
        return (
            function(*args, **kwargs) if recorder is None else recorder.call(recorded, args, kwargs)
        )

    recorded.on_arrays = on_arrays  # type: ignore[attr-defined]
    recorded.on_values = function  # type: ignore[attr-defined]
    return recorded


def register_vjp(
    function: Callable[..., Any], *rules: Callable[..., Any] | None, ignores: str = ""
) -> Callable[..., Any]:
    """Give a function a derivative rule (vector-Jacobian product) for each of its array arguments.

    Raises FunctionError if `function` or a rule isn't callable, there are no rules, or a rule takes too few arguments;
    ValueError if `function` has rules already.

    TensorFlow calls this ``tf.RegisterGradient``. A rule consists of NumPy functions, which outer tapes record like
    any other code: this gives second derivatives. A parameter of a rule whose name starts with an underscore isn't
    read, so the tape doesn't keep its value. In ``tape.jacobian``, `g` has an additional leading axis, so a rule
    counts axes from the end.

    Parameters
    ----------
    function : callable
        A function of arrays: your own function, a function of another package, or a NumPy function without a rule. It
        must not write into its arguments.
    *rules : callable or None
        One rule for each of the first arguments of `function`, None for an argument without derivative: a Python
        function ``rule(g, y, *args, **kwargs)`` of the gradient `g` with respect to the result, the result `y`, and
        the arguments of the call. It returns the gradient with respect to its argument, in the shape of the argument
        or of `y`: axes that broadcasting added or repeated are summed afterwards.
    ignores : str, optional
        Names of keyword arguments on which no derivative depends, separated by spaces.

    Returns
    -------
    callable
        Call this instead of `function`: it computes the same result, and is recorded by tapes that track an argument.
        For NumPy functions and all ufuncs, it is `function` itself.

    See Also
    --------
    custom_gradient : Defines the gradient of one function, which returns its result together with its gradient.
    check_gradients : Compares rules with finite differences.

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
    """Reject a rule whose parameters can't be inspected, or that takes fewer than `count` arguments."""
    code = getattr(rule, "__code__", None)
    if code is None:
        raise FunctionError(
            f"a rule is a Python function (g, y, *args, **kwargs), not {shown(rule)}: write "
            "lambda g, y, x: ... around it"
        )
    # `rule(g, y, *inputs)` takes any number.
    takes_any = bool(code.co_flags & 0x04)  # inspect.CO_VARARGS
    if code.co_argcount < count and not takes_any:
        raise FunctionError(
            f"a rule takes the gradient, the result and every argument that has a rule, here {count} in all, and "
            f"{shown(rule)} takes {code.co_argcount}: write lambda g, y, "
            f"{', '.join(f'x{k + 1}' for k in range(count - 2))}: ..."
        )


def _on_arrays(function: F) -> F:
    """Return a function that is called with read-only views, and whose results share no memory with its arguments."""

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        views = [_read_only(x) for x in args]
        result = function(*views, **kwargs)
        if isinstance(result, tuple):
            return tuple(_unshared(y, views) for y in result)
        return _unshared(result, views)

    return computed  # type: ignore[return-value]


def _read_only(x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    view = x.view()
    view.flags.writeable = False
    return view


def _unshared(y: Any, arguments: list[Any]) -> Any:
    if not isinstance(y, (np.ndarray, np.generic)):
        y = np.asarray(y)
    # Tensors are immutable: a result that is a view of an argument would change with it.
    # may_share_memory compares only bounds: it may copy without need, but never overlooks a view.
    if any(isinstance(x, np.ndarray) and np.may_share_memory(x, y) for x in arguments):
        y = y.copy()
    return y if y.ndim else y[()]
