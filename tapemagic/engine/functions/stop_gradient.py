"""stop_gradient and grad_pass_through: values without a gradient, and functions with the identity's gradient."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, overload

from tapemagic.engine.functions.custom_gradient import custom_gradient
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import live, note
from tapemagic.engine.registry import Function, operation, vjp
from tapemagic.engine.tape.cotangents import NEVER
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.messages import require_function
from tapemagic.engine.tensor.tensor import Traced, wrap

if TYPE_CHECKING:
    from tapemagic.engine.tensor.result_types import HasResults, R_co

F = TypeVar("F", bound=Function)


def _stopped(x: Any) -> Any:
    return x


vjp(_stopped, None, name="stop_gradient")


@overload
def stop_gradient(x: HasResults[R_co]) -> R_co: ...
@overload
def stop_gradient(x: Any) -> Any: ...
def stop_gradient(x: Any) -> Any:
    """Return the same values as constants, through which no gradient passes.

    Parameters
    ----------
    x : array_like, Tensor, Variable, or nested structure of tensors

    Returns
    -------
    Tensor, or structure of them

    Examples
    --------
    >>> import tapemagic as tm
    >>> x = tm.Variable(3.0)
    >>> with tm.GradientTape() as tape:
    ...     y = x * tm.stop_gradient(x)
    >>> tape.gradient(y, x)
    Tensor(3.0)
    """
    parts = leaves(x)
    if not isinstance(x, Traced) and any(isinstance(part, Traced) for part in parts):
        return pack(x, map(stop_gradient, parts))
    x = x if isinstance(x, Traced) else constant(x)
    tensor = x._read()
    if not live() or tensor.dtype.kind not in "fc":
        return wrap(tensor._value)
    value = tensor._value
    # The operation is recorded although no gradient passes: the tape can then explain why a gradient is None. NEVER
    # makes the result a constant, unless it is watched later.
    entry, ids = operation(_stopped), (tensor._id,)
    number = note(entry, (value,), ids, None, value, live(), value.nbytes)
    for tape in live():
        if number in tape._tracked:
            tape._tracked[number] = NEVER
            if tape._rewatched is None:
                tape._rewatched = {}
    return wrap(value, number)


def grad_pass_through(function: F) -> F:
    """Let gradients pass through a function as if it were the identity: a straight-through estimator.

    Parameters
    ----------
    function : callable
        A function of tensors, such as ``np.round`` or a variable's ``assign``, which returns a tensor, or a structure
        of tensors, with the shapes of its arguments.

    Returns
    -------
    callable

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x = tm.Variable(1.3)
    >>> with tm.GradientTape() as tape:
    ...     y = 2 * tm.grad_pass_through(np.round)(x)
    >>> tape.gradient(y, x)
    Tensor(2.0)
    """
    require_function(function)

    @custom_gradient
    @wraps(function)
    def passed_through(*args: Any, **kwargs: Any) -> Any:
        def grad(*upstream: Any, variables: Any = None) -> Any:
            return upstream if variables is None else (upstream, [None] * len(variables))

        return function(*args, **kwargs), grad

    return passed_through  # type: ignore[return-value]
