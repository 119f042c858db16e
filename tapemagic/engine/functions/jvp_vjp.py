"""Products of a derivative with a vector, computed without the matrix: hvp, jvp, vjp."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from tapemagic.engine.functions.arguments import name_of, new_tensor
from tapemagic.engine.functions.grad import Argnums, Run, grad
from tapemagic.engine.laziness import zeros
from tapemagic.engine.nest import leaves, ordered, pack, recursive_structure_error
from tapemagic.engine.registry import Function
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.coercion import NUMBERS as KINDS
from tapemagic.engine.tensor.messages import describe, require_function
from tapemagic.engine.tensor.tensor import Traced, as_operand
from tapemagic.errors import FunctionError, NotNumbersError, OptionError, ShapeError

if TYPE_CHECKING:
    from tapemagic.engine.functions.grad import Derivative


@overload
def hvp(function: Function, argnums: Literal[0] = 0) -> Derivative: ...
@overload
def hvp(function: Function, argnums: Argnums) -> Function: ...
def hvp(function: Function, argnums: Argnums = 0) -> Function:
    """Return a function that multiplies the Hessian of a function by a vector, without computing the matrix.

    Raises ShapeError when called, if the vector doesn't match.

    Parameters
    ----------
    function, argnums : see `grad`

    Returns
    -------
    callable
        Takes the function's arguments, followed by the vector, which has the structure and shape of the argument to
        differentiate with respect to, or is a tuple of such vectors.

    Notes
    -----
    Computed as the gradient of the inner product of gradient and vector (Pearlmutter, "Fast exact multiplication by
    the Hessian", Neural Computation 6, 1994).

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> tm.hvp(lambda x: x[0] ** 2 * x[1])(x, v)
    array([4., 2.])
    """
    require_function(function)

    @wraps(function)
    def product(*args: Any, **kwargs: Any) -> Any:
        if len(args) < 2:
            raise FunctionError(
                f"the Hessian-vector product of {name_of(function)} takes its arguments, followed by the vector"
            )
        *inputs, vector = args
        run = Run(grad(function, argnums), argnums, tuple(inputs), kwargs)
        weights = _matching(vector, run.result, "the vector")
        return run.answer(run.gradient(leaves(run.result), weights), directions=(vector,))

    return product


def vjp(function: Function, *args: Any) -> tuple[Any, Function]:
    """Return the value of a function, and its pullback: the vector-Jacobian product as a function of the cotangent.

    Parameters
    ----------
    function : callable
        A function that returns a tensor, or a structure of tensors.
    *args
        All arguments of the function, which is differentiated with respect to each of them.

    Returns
    -------
    (value, callable)
        ``pullback(cotangent)`` takes a cotangent with the structure and shapes of the value, and returns a tuple
        with, for each argument, the cotangent times the Jacobian. It can be called repeatedly.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> value, pullback = tm.vjp(np.sin, 0.0)
    >>> value, pullback(2.0)
    (np.float64(0.0), (np.float64(2.0),))
    """
    run = _run(function, args)
    outputs = run.outputs

    def pullback(cotangent: Any) -> Any:
        weights = _matching(cotangent, run.result, "the cotangent")
        return run.answer(run.gradient(outputs, weights), directions=(cotangent,))

    return run.answer(run.result), pullback


def jvp(function: Function, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Return the value of a function, and its derivative in a direction: the Jacobian times a tangent.

    Raises ShapeError if the tangents don't match the primals.

    Parameters
    ----------
    function : callable
        A function that returns a tensor, or a structure of tensors.
    primals : tuple or list
        The arguments of the function.
    tangents : tuple or list
        The direction: for each argument, a tangent with its structure and shapes.

    Returns
    -------
    (value, tangent)
        The tangent has the structure and shapes of the value.

    Notes
    -----
    Computed by two reverse sweeps: the pullback is linear in its cotangent, and its transpose is the derivative
    (Townsend, "A new trick for calculating Jacobian vector products", 2017).

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (np.float64(6.0), np.float64(23.0))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise OptionError("jvp takes primals and tangents as tuples: write jvp(f, (x,), (v,))")
    run = _run(function, tuple(primals))
    directions = _matching(tuple(tangents), run.sources, "the tangent")
    outputs = run.outputs
    # The pullback is linear in the cotangent, so its derivative is the same at any cotangent, such
    # as zeros.
    cotangents = [new_tensor(zeros(y.shape, y.dtype)) for y in outputs if y.dtype.kind in "fc"]
    with Tape() as outer:
        outer.watch(cotangents)
        smooth = [y for y in outputs if y.dtype.kind in "fc"]
        pulled = leaves(run.gradient(smooth, cotangents))
    tangents_of_outputs = iter(outer.gradient(pulled, cotangents, directions, "zero"))
    parts = [
        next(tangents_of_outputs) if y.dtype.kind in "fc" else new_tensor(zeros(y.shape, float))
        for y in outputs
    ]
    return run.answer(run.result, pack(run.result, parts), directions=tuple(tangents))  # type: ignore[no-any-return]


def _run(function: Function, args: tuple[Any, ...]) -> Run:
    """Call a function that is differentiated with respect to all of its arguments."""
    require_function(function)
    if not args:
        raise OptionError(
            f"{name_of(function)} is differentiated with respect to its arguments: pass at least one argument"
        )
    return Run(function, tuple(range(len(args))), args, {})


def _matching(structure: Any, template: Any, role: str) -> list[Any]:
    """Return the leaves of a cotangent or tangent, each with the shape of the corresponding tensor of a template.

    Raises NotATensorError if the structure contains itself. Raises NotNumbersError if an entry is not numeric. Raises
    ShapeError if a shape or the structure differs, or an entry is complex where the template is real.
    """
    try:
        weights = list(map(as_operand, _leaves_like(structure, template)))
    except RecursionError:
        raise recursive_structure_error(structure) from None
    for x, v in zip(leaves(template), weights, strict=True):
        dtype = v.dtype if hasattr(v, "dtype") else np.asarray(v).dtype
        if dtype.kind not in KINDS:
            raise NotNumbersError(f"{role} must be numbers of shape {x.shape}, not {describe(v)}")
        if np.shape(v) != x.shape:
            raise ShapeError(
                f"{role} has shape {np.shape(v)}, but must have shape {x.shape}, "
                "like the value that it multiplies"
            )
        if dtype.kind == "c" and x.dtype.kind != "c":
            raise ShapeError(f"{role} is {dtype}, but must be {x.dtype}: pass real numbers")
    return weights


def _leaves_like(structure: Any, template: Any) -> list[Any]:
    """Return the parts of a structure that correspond to the template's tensors."""
    if isinstance(template, Traced):
        return [structure]
    pairs: Any
    if isinstance(template, Mapping):
        fits = isinstance(structure, Mapping) and structure.keys() == template.keys()
        pairs = ((structure[key], template[key]) for key in ordered(template))
    else:
        fits = isinstance(structure, (list, tuple)) and len(structure) == len(template)
        pairs = zip(structure, template, strict=True)
    if not fits:
        raise ShapeError(
            f"{describe(structure)} does not have the structure of {describe(template)}"
        )
    return [leaf for part, model in pairs for leaf in _leaves_like(part, model)]
