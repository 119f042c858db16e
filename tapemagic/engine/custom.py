"""Derivatives of the user's own: custom_gradient, stop_gradient, grad_pass_through, recompute_grad."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.constants import constant
from tapemagic.engine.recording import go_live, go_quiet, live, note, note_several, silence
from tapemagic.engine.registry import operation, vjp, vjp_each
from tapemagic.engine.structure import describe, leaves, pack
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Tensor, Traced, as_operand, wrap
from tapemagic.engine.variable import Variable
from tapemagic.errors import CustomGradientError, VariablesKeywordError

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


class Call:
    """One call of a function with a gradient of its own, as its record keeps it.

    Attributes
    ----------
    name : str
        The function's.
    pullback : callable
        ``pullback(upstream) -> gradients``, both lists: of the outputs, and of the inputs or None.
    """

    __slots__ = ("_answers", "_asked", "name", "pullback")

    def __init__(self, name: str, pullback: Function) -> None:
        self.name = name
        self.pullback = pullback
        self._asked: Any = None
        self._answers: list[Any] = []

    def gradient(self, position: int, g: Any, y: Any) -> Any:
        """The gradient of one input; the pullback is asked once for all of them."""
        if g is not self._asked:
            self._answers = self._ask(g, y)
            self._asked = g
        return self._answers[position]

    def _ask(self, g: Any, y: Any) -> list[Any]:
        several = y.__class__ is tuple
        gs, ys = (g, y) if several else ((g,), (y,))
        if not gs[0].ndim > ys[0].ndim:
            return self._answer(gs)
        rows = [self._ask(tuple(row) if several else row[0], y) for row in zip(*gs, strict=True)]
        return [None if row[0] is None else np.stack(row) for row in zip(*rows, strict=True)]

    def _answer(self, gs: Any) -> list[Any]:
        nested = any(isinstance(g, Tensor) for g in gs)
        upstream = [_turned(g if isinstance(g, Tensor) else wrap(g)) for g in gs]
        answers = map(_turned, self.pullback(upstream))
        return [x if nested or x is None else x._value for x in answers]

    def __repr__(self) -> str:
        return f"<a call of {self.name}>"


def _turned(g: Any) -> Any:
    """A gradient between the sweep's convention and TensorFlow's, which are conjugates of each other."""
    return np.conjugate(g) if g is not None and g.dtype.kind == "c" else g


def called(*inputs: Any, call: Call) -> Any:
    """Stands in the table for functions with gradients of their own."""
    raise NotImplementedError


def _called(position: int, g: Any, _y: Any, *_inputs: Any, call: Call) -> Any:
    """What the user's function says; it is asked row by row, since it may not know of leading axes."""
    shape = g[0].shape if g.__class__ is tuple else g.shape
    if shape[:1] == (0,):
        return np.zeros((0, *_inputs[position].shape))
    return call.gradient(position, g, _y)


vjp_each(called, _called, name="custom gradient")


def record_call(call: Call, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Put a call on the tapes that track one of its inputs; its outputs, as results of this operation.

    Outputs that are no real or complex numbers are returned as they are.
    """
    read = [x._read() if isinstance(x, Traced) else x for x in map(as_operand, inputs)]
    values = tuple(x._value if isinstance(x, Tensor) else x for x in read)
    ids = tuple(x._id if isinstance(x, Tensor) else 0 for x in read)
    smooth = [k for k, y in enumerate(outputs) if y.dtype.kind in "fc"]
    held = [outputs[k]._value for k in smooth]
    results = [wrap(y._value) for y in outputs]
    tapes, entry, params = live(), operation(called), {"call": call}
    if tapes and len(smooth) == 1:
        size = max(getattr(x, "nbytes", 0) for x in (*values, *held))
        numbers: Any = [note(entry, values, ids, params, held[0], tapes, size)]
    elif tapes and smooth:
        numbers = note_several(entry, values, ids, params, tuple(held), tapes)
    else:
        return results
    for k, number in zip(smooth, numbers, strict=True):
        results[k] = wrap(outputs[k]._value, number)
    return results


# -- custom_gradient --------------------------------------------------------------------------------


def custom_gradient(function: Function | None = None) -> Any:
    """Give a function a gradient of its own.

    Parameters
    ----------
    function : callable
        ``function(*args)`` returns a pair: its result, a tensor or a structure of tensors, and
        ``grad_fn(*upstream)``, which is given one tensor for each tensor of the result, and returns one gradient, or
        None, for each tensor or number in `args`: a single one, or a list or tuple of them. If the function reads
        trainable variables which are not among `args`, `grad_fn` is also given them, as ``variables=[...]``, and
        returns a pair: the gradients of `args`, and a list of those of the variables.

    Returns
    -------
    callable
        The function, which returns the result alone. Without `function`, a decorator.

    Raises
    ------
    CustomGradientError
        When called: if the function does not return such a pair, or is given a tensor by keyword. When
        differentiated: if `grad_fn` returns the wrong number of gradients, or one of another shape than its argument.
    VariablesKeywordError
        When called, if the function reads variables, and `grad_fn` does not take them.

    Notes
    -----
    The operations of `grad_fn` are recorded by tapes that listen, so that second derivatives are those of `grad_fn`.

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
    if function is None:
        return custom_gradient

    @wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        name = getattr(function, "__name__", "function")
        _refuse_keywords(name, kwargs)
        with _variables_read() as variables:
            returned = function(*args, **kwargs)
        result, grad_fn = _result_and_gradient(name, returned)
        inputs = leaves(list(args))
        given = {id(x) for x in inputs}
        captured = [variable for variable in variables.values() if id(variable) not in given]
        captured.sort(key=lambda variable: variable._created)
        if captured:
            _require_variables_keyword(name, grad_fn, captured)
        outputs = [y if isinstance(y, Traced) else constant(y) for y in leaves(result)]
        kept = [None if y.dtype.kind in "fc" else y.shape for y in outputs]
        pullback = partial(_pull_back, name, grad_fn, inputs, captured, kept)
        results = record_call(Call(name, pullback), [*inputs, *captured], outputs)
        return _packed(result, results)

    return differentiated


def _packed(structure: Any, results: list[Any]) -> Any:
    """The results in the structure of what a function returned, whose leaves may be arrays."""
    if not isinstance(structure, (list, tuple, dict)):
        return results[0]
    tensors = iter([x if isinstance(x, Traced) else constant(x) for x in leaves(structure)])
    return pack(_of_tensors(structure, tensors), iter(results))


def _of_tensors(structure: Any, tensors: Iterator[Any]) -> Any:
    """A structure in which arrays are tensors, as `pack` wants it."""
    if isinstance(structure, dict):
        return {key: _of_tensors(part, tensors) for key, part in structure.items()}
    if isinstance(structure, (list, tuple)):
        parts = [_of_tensors(part, tensors) for part in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*parts)
        return type(structure)(parts)
    return next(tensors)


class _Reader:
    """Hears which trainable variables are read, and of nothing else."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}
        self._tracked: dict[int, int] = {}

    def _notice(self, variable: Variable) -> None:
        if variable.trainable:
            self.variables.setdefault(variable._id, variable)

    def _ignore(self, *_: Any) -> None:
        """Nothing is recorded here."""

    _append = _prune = _gain = _hear = _sweep_begins = _sweep_ends = _ignore


@contextmanager
def _variables_read() -> Iterator[dict[int, Variable]]:
    """The trainable variables that are read inside the block, by their numbers."""
    reader: Any = _Reader()
    go_live(reader)
    try:
        yield reader.variables
    finally:
        go_quiet(reader)


def _refuse_keywords(name: str, kwargs: dict[str, Any]) -> None:
    for keyword, value in kwargs.items():
        if any(isinstance(x, Traced) for x in leaves(value)):
            raise CustomGradientError(
                f"{name}({keyword}=...) gives a tensor by keyword, for which grad_fn returns no gradient: "
                "give what is to be differentiated by position"
            )


def _result_and_gradient(name: str, returned: Any) -> tuple[Any, Function]:
    if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
        raise CustomGradientError(
            f"{name}, decorated with custom_gradient, has to return a pair, the result and a function for its "
            f"gradient: return y, grad; it returned {describe(returned)}"
        )
    return returned


def _require_variables_keyword(name: str, grad_fn: Function, captured: list[Variable]) -> None:
    parameters = inspect.signature(grad_fn).parameters.values()
    if any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters):
        return
    names = ", ".join(repr(variable.name) for variable in captured)
    raise VariablesKeywordError(
        f"@custom_gradient grad_fn must accept keyword argument 'variables', since {name} uses variables that are not "
        f"among its arguments: {names}. Write def grad(upstream, variables=None) and return the gradients of the "
        "arguments and a list of those of the variables; or give the variables as arguments"
    )


def _pull_back(
    name: str,
    grad_fn: Function,
    inputs: list[Any],
    captured: list[Variable],
    constant_shapes: list[Any],
    smooth: list[Tensor],
) -> list[Any]:
    """Ask the user's grad_fn, and check what it returns; whole numbers among the outputs have zeros upstream."""
    following = iter(smooth)
    upstream = [
        next(following) if shape is None else constant(np.zeros(shape)) for shape in constant_shapes
    ]
    answer: Any
    theirs: list[Any] = []
    if captured:
        answer = grad_fn(*upstream, variables=captured)
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise CustomGradientError(
                f"the grad_fn of {name} has to return a pair, the gradients of the arguments and a list of those of "
                f"the variables, not {describe(answer)}"
            )
        answer, theirs = answer[0], _listed(answer[1])
        if len(theirs) != len(captured):
            raise CustomGradientError(
                f"the grad_fn of {name} returned {len(theirs)} gradients for {len(captured)} variables"
            )
    else:
        answer = grad_fn(*upstream)
    ours = _listed(answer)
    if len(ours) != len(inputs):
        raise CustomGradientError(
            f"custom_gradient function expected to return {len(inputs)} gradients, but returned {len(ours)} instead. "
            f"({name} has {len(inputs)} arguments to differentiate)"
        )
    pairs = zip([*ours, *theirs], [*inputs, *captured], strict=True)
    return [_checked(name, g, x, k) for k, (g, x) in enumerate(pairs)]


def _listed(answer: Any) -> list[Any]:
    return [answer] if answer is None or isinstance(answer, Traced) else leaves(answer)


def _checked(name: str, g: Any, x: Any, position: int) -> Any:
    """A gradient as a tensor, of the shape of its input."""
    if g is None:
        return None
    try:
        g = g._read() if isinstance(g, Traced) else constant(g)
    except (TypeError, ValueError):
        raise CustomGradientError(
            f"the grad_fn of {name} returned {describe(g)} for argument {position}, which is no gradient: return a "
            "tensor, an array or a number, or None where there is no gradient"
        ) from None
    if g.shape != np.shape(getattr(x, "_value", x)):
        raise CustomGradientError(
            f"the grad_fn of {name} returned a gradient of shape {g.shape} for argument {position} of shape "
            f"{np.shape(getattr(x, '_value', x))}: they have to be the same"
        )
    return g


# -- stop_gradient, grad_pass_through, recompute_grad -------------------------------------------------


def _stopped(x: Any) -> Any:
    return x


vjp(_stopped, None, name="stop_gradient")


def stop_gradient(x: Any) -> Any:
    """The same values, as constants: no gradient passes through.

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
    found = leaves(x)
    if not isinstance(x, Traced) and any(isinstance(part, Traced) for part in found):
        return pack(x, iter([stop_gradient(part) for part in found]))
    x = x if isinstance(x, Traced) else constant(x)
    tensor = x._read()
    if not live() or tensor.dtype.kind not in "fc":
        return wrap(tensor._value)
    value = tensor._value
    entry, ids = operation(_stopped), (tensor._id,)
    return wrap(value, note(entry, (value,), ids, None, value, live(), value.nbytes))


def grad_pass_through(function: F) -> F:
    """Let gradients pass a function as if it were the identity: a straight-through estimator.

    Parameters
    ----------
    function : callable
        Of one or more tensors, such as ``np.round`` or a variable's ``assign``. It returns a tensor, or a structure
        of tensors, of the shapes of its arguments.

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

    @custom_gradient
    def straight(*args: Any) -> Any:
        def grad(*upstream: Any, variables: Any = None) -> Any:
            return upstream if variables is None else (upstream, [None] * len(variables))

        return function(*args), grad

    straight.__name__ = getattr(function, "__name__", "function")
    return straight  # type: ignore[no-any-return]


def recompute_grad(function: F) -> F:
    """Compute a function again when it is differentiated, rather than keep what it computed on the way.

    Parameters
    ----------
    function : callable
        Of tensors; it may read variables. It must give the same result when it is called again.

    Returns
    -------
    callable
        Trades time for memory: of its operations the tape keeps the arguments and the results alone.

    Notes
    -----
    Gradient checkpointing: Griewank and Walther, "Revolve", ACM Transactions on Mathematical Software 26 (2000).

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> @tm.recompute_grad
    ... def block(x):
    ...     return np.sin(np.sin(np.sin(x)))
    >>> x = tm.Variable(1.0)
    >>> with tm.GradientTape() as tape:
    ...     y = block(x)
    >>> tape.gradient(y, x)
    Tensor(0.26450827)
    """

    @wraps(function)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        with silence(), _variables_read() as variables:
            result = function(*args, **kwargs)
        inputs = leaves(list(args))
        given = {id(x) for x in inputs}
        captured = [variable for variable in variables.values() if id(variable) not in given]
        held = [x._read() if isinstance(x, Traced) else x for x in inputs]
        then = [variable._handle for variable in captured]

        def pullback(upstream: list[Tensor]) -> list[Any]:
            now = [variable._handle for variable in captured]
            for variable, handle in zip(captured, then, strict=True):
                variable._handle = handle
            try:
                sources = [*(x for x in held if isinstance(x, Traced)), *captured]
                with GradientTape() as tape:
                    tape.watch(sources)
                    again = leaves(function(*_of_tensors(args, iter(held)), **kwargs))
                smooth = [y for y in again if isinstance(y, Traced) and y.dtype.kind in "fc"]
                found = iter(tape.gradient(smooth, sources, upstream))
            finally:
                for variable, handle in zip(captured, now, strict=True):
                    variable._handle = handle
            ours = [next(found) if isinstance(x, Traced) else None for x in held]
            return [*ours, *found]

        outputs = [y if isinstance(y, Traced) else constant(y) for y in leaves(result)]
        call = Call(getattr(function, "__name__", "function"), pullback)
        return _packed(result, record_call(call, [*inputs, *captured], outputs))

    return recomputed  # type: ignore[return-value]
