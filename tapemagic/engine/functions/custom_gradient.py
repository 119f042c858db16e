"""custom_gradient: functions with a custom derivative."""

from __future__ import annotations

import inspect
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tapemagic.engine.functions.arguments import name_of
from tapemagic.engine.functions.pullback import Call, outputs_of, record_call
from tapemagic.engine.laziness import zeros
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import tick
from tapemagic.engine.registry import Function
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.messages import describe, require_function
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.engine.tensor.variable import Variable
from tapemagic.engine.tensor.variable_reads import captured_by, recorded_reads
from tapemagic.errors import (
    CustomGradientError,
    NotNumbersError,
    VariablesKeywordError,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec

    P = ParamSpec("P")


@overload
def custom_gradient(function: Callable[P, Any]) -> Callable[P, Any]: ...
@overload
def custom_gradient(
    function: None = None,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
def custom_gradient(function: Function | None = None) -> Any:
    """Define the gradient of a function.

    Live tapes record the operations of `grad_fn`, so second derivatives are the derivatives of `grad_fn`.

    Parameters
    ----------
    function : callable
        ``function(*args)`` returns a pair: its result, a tensor or a structure of tensors, and
        ``grad_fn(*upstream)``. `grad_fn` receives one tensor for each tensor of the result, and returns one gradient,
        or None, for each tensor or number in `args`: a single gradient, or a list or tuple of gradients. If the
        function reads trainable variables that aren't among `args`, `grad_fn` also receives them, as
        ``variables=[...]``, and returns a pair: the gradients of `args`, and a list of the variables' gradients.

    Returns
    -------
    callable
        The function, which returns only the result. Without `function`, a decorator.

    Raises
    ------
    CustomGradientError
        If `function` isn't callable. When called: if it doesn't return such a pair, or receives a tensor by keyword.
        When differentiated: if `grad_fn` returns a wrong number of gradients, a gradient whose shape differs from its
        argument's, or complex gradients although result and argument are real.
    VariablesKeywordError
        When called, if the function reads variables, and `grad_fn` doesn't accept them.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> @tm.custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> x = tm.Variable(100.0)
    >>> with tm.GradientTape() as tape:
    ...     y = log1pexp(x)
    >>> tape.gradient(y, x)
    Tensor(1.0)
    """
    return custom_gradient if function is None else _CustomGradient(function)


class _CustomGradient:
    """A function decorated with custom_gradient. For a method, `self` isn't differentiated."""

    __wrapped__: Any

    def __init__(self, function: Function) -> None:
        require_function(function, CustomGradientError)
        update_wrapper(self, function)

    def __get__(self, instance: Any, owner: Any = None) -> _CustomGradient:
        if instance is None:
            return self
        return _CustomGradient(self.__wrapped__.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], type):
            # A class method: since Python 3.13, `classmethod` no longer calls the __get__ of what it wraps.
            return self.__get__(args[0])(*args[1:], **kwargs)
        function = self.__wrapped__
        name = name_of(function)
        _refuse_keywords(name, kwargs)
        # Ids of values computed inside the function are later than this time: an explanation can
        # tell them apart.
        start_time = tick()
        with recorded_reads() as reads:
            returned = function(*args, **kwargs)
        result, grad_fn = _result_and_gradient(name, returned)
        inputs = leaves(list(args))
        captured = captured_by(reads, inputs)
        if captured:
            _require_variables_keyword(name, grad_fn, captured)
        outputs = outputs_of(name, result)
        constant_shapes = [None if y.dtype.kind in "fc" else y._value.shape for y in outputs]
        pullback = partial(_pull_back, name, grad_fn, inputs, captured, constant_shapes)
        results = record_call(Call(name, pullback, start_time), [*inputs, *captured], outputs)
        return pack(result, results)


def _refuse_keywords(name: str, kwargs: dict[str, Any]) -> None:
    for keyword, value in kwargs.items():
        if any(isinstance(x, Traced) for x in leaves(value)):
            raise CustomGradientError(
                f"{name}({keyword}=...) passes a tensor by keyword, but grad_fn returns gradients "
                "only for positional arguments: pass the tensor by position"
            )


def _result_and_gradient(name: str, returned: Any) -> tuple[Any, Function]:
    if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
        raise CustomGradientError(
            f"{name}, decorated with custom_gradient, must return a pair, its result and a gradient function: "
            f"write return y, grad. It returned {describe(returned)}"
        )
    return returned


def _require_variables_keyword(name: str, grad_fn: Function, captured: list[Variable]) -> None:
    try:
        parameters = list(inspect.signature(grad_fn).parameters.values())
    except ValueError:  # a function written in C
        parameters = []
    if any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters):
        return
    names = ", ".join(repr(variable.name) for variable in captured)
    raise VariablesKeywordError(
        f"@custom_gradient grad_fn must accept keyword argument 'variables', because {name} uses variables that aren't "
        f"among its arguments: {names}. Write def grad(upstream, variables=None), and return the gradients of the "
        "arguments and a list of the variables' gradients; or pass the variables as arguments"
    )


def _call_grad_fn(
    name: str, grad_fn: Function, upstream: list[Any], keywords: dict[str, Any]
) -> Any:
    """Call a user's `grad_fn`, and explain a wrong number of parameters."""
    try:
        return grad_fn(*upstream, **keywords)
    except TypeError:
        if _accepts(grad_fn, *upstream, **keywords):
            raise
        raise CustomGradientError(
            f"the grad_fn of {name} must take an upstream gradient for each tensor that {name} returned, here "
            f"{len(upstream)}: write def grad({', '.join(f'g{k}' for k in range(len(upstream)))})"
        ) from None


def _accepts(function: Function, *args: Any, **kwargs: Any) -> bool:
    """Return True if a function accepts these arguments, or if its signature is unknown."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # a function written in C
        return True
    return True


def _pull_back(
    name: str,
    grad_fn: Function,
    inputs: list[Any],
    captured: list[Variable],
    constant_shapes: list[Any],
    differentiable: list[Tensor],
) -> list[Any]:
    """Return checked gradients of grad_fn, which receives zeros as the upstream gradients of integer outputs."""
    following = iter(differentiable)
    upstream = [
        next(following) if shape is None else constant(zeros(shape, float))
        for shape in constant_shapes
    ]
    answer: Any
    variable_gradients: list[Any] = []
    if captured:
        answer = _call_grad_fn(name, grad_fn, upstream, {"variables": captured})
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise CustomGradientError(
                f"the grad_fn of {name} must return a pair, the gradients of the arguments and a list of the "
                f"variables' gradients, not {describe(answer)}"
            )
        answer, variable_gradients = answer[0], _as_list(answer[1])
        if len(variable_gradients) != len(captured):
            raise CustomGradientError(
                f"the grad_fn of {name} returned {len(variable_gradients)} gradients for {len(captured)} variables"
            )
    else:
        answer = _call_grad_fn(name, grad_fn, upstream, {})
    gradients = _as_list(answer)
    if len(gradients) != len(inputs):
        raise CustomGradientError(
            f"custom_gradient function expected to return {len(inputs)} gradients, but returned {len(gradients)} "
            f"instead. ({name} has {len(inputs)} arguments to differentiate)"
        )
    sources = [*inputs, *captured]
    pairs = zip([*gradients, *variable_gradients], sources, strict=True)
    checked = [_checked_gradient(name, g, x, k) for k, (g, x) in enumerate(pairs)]
    if all(u.dtype.kind != "c" for u in upstream):
        _refuse_complex(name, checked, sources)
    return checked


def _as_list(answer: Any) -> list[Any]:
    return [answer] if answer is None or isinstance(answer, Traced) else leaves(answer)


def _checked_gradient(name: str, g: Any, x: Any, position: int) -> Any:
    """Return a gradient as a tensor, and check that it has the shape of its input."""
    if g is None:
        return None
    try:
        g = g._read() if isinstance(g, Traced) else constant(g)
    except NotNumbersError:
        raise CustomGradientError(
            f"the grad_fn of {name} returned {describe(g)} as the gradient of argument {position}: return a "
            "tensor, an array or a number, or None if there is no gradient"
        ) from None
    if g.shape != np.shape(getattr(x, "_value", x)):
        raise CustomGradientError(
            f"the grad_fn of {name} returned a gradient of shape {g.shape} for argument {position} of shape "
            f"{np.shape(getattr(x, '_value', x))}: the shapes must be equal"
        )
    return g


def _refuse_complex(name: str, gradients: list[Any], inputs: list[Any]) -> None:
    """Raise an error for a complex gradient of a real argument if the result is real."""
    for position, (g, x) in enumerate(zip(gradients, inputs, strict=True)):
        if g is not None and g.dtype.kind == "c" and isinstance(x, Traced) and x.dtype.kind == "f":
            raise CustomGradientError(
                f"the grad_fn of {name} returned a {g.dtype} gradient for argument {position}, but argument and "
                f"result are {x.dtype}: return np.real(...) of the gradient"
            )
