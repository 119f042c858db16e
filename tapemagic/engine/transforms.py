"""Derivatives of functions, as functions that can be differentiated again: grad, jacobian, hessian, hvp, jvp, vjp."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from tapemagic.engine.functional import checked_result, fresh, name_of
from tapemagic.engine.structure import describe, leaves, pack
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Tensor, Traced
from tapemagic.errors import FunctionError, NotATensorError, OptionError, ShapeError

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


class _Run:
    """A function, called once on a tape that watches some of its arguments."""

    def __init__(
        self, function: Function, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        positions = _positions(function, argnums, len(args))
        inputs = list(args)
        for k in positions:
            inputs[k] = _tensors(inputs[k], function, k)
        watched = tuple(inputs[k] for k in positions)
        self.function = function
        self.sources: Any = watched if isinstance(argnums, tuple) else watched[0]
        self.tape = GradientTape(persistent=True)
        with self.tape:
            self.tape.watch(watched)
            self.result = checked_result(function, function(*inputs, **kwargs))

    @property
    def scalar(self) -> Tensor:
        """The result, which has to be one real number."""
        result = self.result
        if not isinstance(result, Traced):
            raise NotATensorError(
                f"{name_of(self.function)} returned {describe(result)}, and no tensor: compute it with NumPy from its "
                "arguments, without float() or .numpy()"
            )
        if result.shape != ():
            raise ShapeError(
                f"{name_of(self.function)} returned shape {result.shape}, and a gradient is of one number: "
                "sum it up with np.sum, or use jacobian"
            )
        return result._read()

    def gradient(self, target: Any, weights: Any = None) -> Any:
        """The gradient of a target in the structure of the arguments, zeros where nothing is connected."""
        return self.tape.gradient(target, self.sources, weights, "zero")

    def jacobian(self) -> Any:
        """For each tensor of the result, its Jacobians in the structure of the arguments."""
        found = leaves(self.result)
        for y in found:
            if not isinstance(y, Traced):
                raise NotATensorError(
                    f"{name_of(self.function)} returned {describe(y)}, and no tensor: compute it with NumPy from its "
                    "arguments, without float() or .numpy()"
                )
        parts: Iterator[Any] = (self.tape.jacobian(y, self.sources, "zero") for y in found)
        return next(parts) if isinstance(self.result, Traced) else pack(self.result, parts)


def _positions(function: Function, argnums: Argnums, count: int) -> list[int]:
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in wanted:
        if isinstance(k, bool) or not isinstance(k, int):
            raise OptionError(f"argnums is {argnums!r}: give a position, or a tuple of positions")
        if not -count <= k < count:
            raise OptionError(
                f"argnums has the position {k}, but {name_of(function)} was given {count} arguments by position"
            )
    if not wanted:
        raise OptionError("argnums is empty: name at least one position")
    return [k % count for k in wanted]


def _tensors(value: Any, function: Function, position: int) -> Any:
    """An argument as tensors of its own, in the structure in which it was given."""
    if isinstance(value, dict):
        return {key: _tensors(part, function, position) for key, part in value.items()}
    if isinstance(value, tuple) or (
        isinstance(value, list) and any(np.ndim(_plain(x)) or isinstance(x, Traced) for x in value)
    ):
        parts = [_tensors(part, function, position) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    try:
        tensor = fresh(value)
    except (TypeError, ValueError):
        raise NotATensorError(
            f"argument {position} of {name_of(function)} is {describe(value)}, and no number or array"
        ) from None
    if tensor.dtype.kind not in "fc":
        raise NotATensorError(
            f"argument {position} of {name_of(function)} holds {tensor.dtype}, and only real and complex numbers have "
            f"derivatives: write {float(tensor._value) if not tensor.ndim else 'x.astype(float)'}"
        )
    return tensor


def _plain(x: Any) -> Any:
    return getattr(x, "_value", 0 if isinstance(x, (dict, list, tuple)) else x)


def grad(function: Function, argnums: Argnums = 0) -> Function:
    """The gradient of a function that returns one number.

    Parameters
    ----------
    function : callable
        Of numbers, arrays, or structures of arrays.
    argnums : int or tuple of int, optional
        The positions of the arguments to differentiate with respect to.

    Returns
    -------
    callable
        Takes the function's arguments; gives the gradient in the structure of the argument, or a tuple of them. It
        can be differentiated again. Where the function does not depend on an argument, the gradient is zeros.

    Raises
    ------
    FunctionError
        When called, if the function returns None.
    NotATensorError
        When called, if the function returns no tensor, or an argument holds no real or complex numbers.
    OptionError
        When called, if `argnums` names no argument.
    ShapeError
        When called, if the function returns more than one number.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> f = lambda x: np.sin(x) ** 2
    >>> tm.grad(f)(1.0), tm.grad(tm.grad(f))(1.0)
    (Tensor(0.90929743), Tensor(-0.83229367))
    """

    @wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        run = _Run(function, argnums, args, kwargs)
        return run.gradient(run.scalar)

    return gradient


def value_and_grad(function: Function, argnums: Argnums = 0) -> Function:
    """The value and the gradient of a function that returns one number.

    Parameters
    ----------
    function, argnums
        As for `grad`.

    Returns
    -------
    callable
        Takes the function's arguments; gives a pair, the value and what `grad` gives.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    (Tensor(6.0), (Tensor(3.0), Tensor(2.0)))
    """

    @wraps(function)
    def both(*args: Any, **kwargs: Any) -> Any:
        run = _Run(function, argnums, args, kwargs)
        value = run.scalar
        return value, run.gradient(value)

    return both


def jacobian(function: Function, argnums: Argnums = 0) -> Function:
    """The Jacobian of a function: the derivative of each element of its result in each element of an argument.

    Parameters
    ----------
    function : callable
        Returns a tensor, or a structure of tensors.
    argnums : int or tuple of int, optional
        As for `grad`.

    Returns
    -------
    callable
        Takes the function's arguments; gives arrays of shape ``result.shape + argument.shape``, in the structure of
        the result, and inside of that in the structure of the argument.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.jacobian(np.cumsum)(np.array([1.0, 2.0]))
    Tensor([[1., 0.],
            [1., 1.]])
    """

    @wraps(function)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        return _Run(function, argnums, args, kwargs).jacobian()

    return matrix


def hessian(function: Function, argnums: Argnums = 0) -> Function:
    """The second derivatives of a function: for one that returns one number, its Hessian matrix.

    Parameters
    ----------
    function, argnums
        As for `jacobian`.

    Returns
    -------
    callable
        Takes the function's arguments; gives arrays of shape ``result.shape + x.shape + x.shape``; with several
        arguments, or one that is a structure, the blocks of the matrix, nested.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    Tensor([[4., 2.],
            [2., 0.]])
    """
    return jacobian(jacobian(function, argnums), argnums)


def hvp(function: Function, argnums: Argnums = 0) -> Function:
    """The Hessian of a function that returns one number, times a vector, without the matrix.

    Parameters
    ----------
    function, argnums
        As for `grad`.

    Returns
    -------
    callable
        Takes the function's arguments, and after them the vector: of the structure and shape of the argument to
        differentiate with respect to, or a tuple of them.

    Raises
    ------
    ShapeError
        When called, if the vector does not match.

    Notes
    -----
    The gradient of the product of gradient and vector: Pearlmutter, "Fast exact multiplication by the Hessian",
    Neural Computation 6 (1994).

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> tm.hvp(lambda x: x[0] ** 2 * x[1])(x, v)
    Tensor([4., 2.])
    """

    @wraps(function)
    def product(*args: Any, **kwargs: Any) -> Any:
        if len(args) < 2:
            raise FunctionError(
                f"the Hessian-vector product of {name_of(function)} takes its arguments, and the vector after them"
            )
        *inputs, vector = args
        run = _Run(grad(function, argnums), argnums, tuple(inputs), kwargs)
        return run.gradient(run.result, _matching(vector, run.result))

    return product


def vjp(function: Function, *args: Any) -> tuple[Any, Function]:
    """The value of a function, and what pulls a cotangent back through it.

    Parameters
    ----------
    function : callable
        Returns a tensor, or a structure of tensors.
    *args
        All of its arguments; it is differentiated with respect to each of them.

    Returns
    -------
    (value, callable)
        ``pullback(cotangent)`` takes what has the structure and shapes of the value, and gives a tuple: for each
        argument the cotangent times the Jacobian. It may be called repeatedly.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> value, pullback = tm.vjp(np.sin, 0.0)
    >>> value, pullback(2.0)
    (Tensor(0.0), (Tensor(2.0),))
    """
    run = _Run(function, tuple(range(len(args))), args, {})

    def pullback(cotangent: Any) -> Any:
        return run.gradient(run.result, _matching(cotangent, run.result))

    return run.result, pullback


def jvp(function: Function, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The value of a function, and its derivative in a direction: the Jacobian times a tangent.

    Parameters
    ----------
    function : callable
        Returns a tensor, or a structure of tensors.
    primals : tuple or list
        Its arguments.
    tangents : tuple or list
        The direction: for each argument, what has its structure and shapes.

    Returns
    -------
    (value, tangent)
        The tangent has the structure and shapes of the value.

    Raises
    ------
    ShapeError
        If the tangents do not match the primals.

    Notes
    -----
    By two reverse sweeps: the pullback is linear in its cotangent, and its transpose is the derivative. Townsend,
    "A new trick for calculating Jacobian vector products" (2017).

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (Tensor(6.0), Tensor(23.0))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise OptionError("jvp takes primals and tangents as tuples: write jvp(f, (x,), (v,))")
    run = _Run(function, tuple(range(len(primals))), tuple(primals), {})
    directions = _matching(tuple(tangents), run.sources)
    smooth = [y for y in leaves(run.result) if isinstance(y, Traced) and y.dtype.kind in "fc"]
    cotangents = [fresh(np.zeros(y.shape, y.dtype)[()]) for y in smooth]
    with GradientTape() as outer:
        outer.watch(cotangents)
        pulled = leaves(run.tape.gradient(smooth, run.sources, cotangents, "zero"))
    found = iter(outer.gradient(pulled, cotangents, leaves(directions), "zero"))
    result = leaves(run.result)
    parts = [next(found) if any(y is s for s in smooth) else None for y in result]
    whole = parts[0] if isinstance(run.result, Traced) else pack(run.result, iter(parts))
    return run.result, whole


def _matching(given: Any, template: Any) -> Any:
    """Weights in the structure and shapes of a template, as tensors."""
    ours, theirs = leaves(template), _leaves_like(given, template)
    for x, v in zip(ours, theirs, strict=True):
        if np.shape(getattr(v, "_value", v)) != x.shape:
            raise ShapeError(
                f"the vector has shape {np.shape(getattr(v, '_value', v))} where {x.shape} is needed: it has the "
                "shape of what it is multiplied with"
            )
    weights = [
        fresh(np.asarray(v, x.dtype) if not isinstance(v, Traced) else v)
        for x, v in zip(ours, theirs, strict=True)
    ]
    return weights[0] if isinstance(template, Traced) else pack(template, iter(weights))


def _leaves_like(given: Any, template: Any) -> list[Any]:
    """What stands in a structure where the template has its tensors."""
    if isinstance(template, Traced):
        return [given]
    if isinstance(template, dict):
        pairs = (
            [(given[key], part) for key, part in template.items()]
            if _alike(given, template, dict)
            else []
        )
    else:
        pairs = (
            list(zip(given, template, strict=True))
            if _alike(given, template, (list, tuple))
            else []
        )
    return [leaf for part, model in pairs for leaf in _leaves_like(part, model)]


def _alike(given: Any, template: Any, kind: Any) -> bool:
    """Whether a structure can be matched with a template.

    Raises
    ------
    ShapeError
        If not.
    """
    fits = isinstance(given, kind) and len(given) == len(template)
    if not fits or (isinstance(template, dict) and given.keys() != template.keys()):
        raise ShapeError(f"{describe(given)} does not have the structure of {describe(template)}")
    return True
