"""Derivatives of functions as differentiable functions: grad, value_and_grad, jacobian, hessian."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, overload
from warnings import warn_explicit

import numpy as np

from tapemagic.engine.events import is_flat, source_line
from tapemagic.engine.functions.arguments import (
    argument,
    checked_positions,
    checked_result,
    checked_tensor,
    name_of,
    second,
)
from tapemagic.engine.laziness import gates, is_lazy
from tapemagic.engine.nest import is_leaf, leaves, pack
from tapemagic.engine.recording import CONSTANT, live, outputs_of
from tapemagic.engine.registry import Function
from tapemagic.engine.tape.base_tape import Contents, contents_of
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.messages import require_function, shown
from tapemagic.engine.tensor.tensor import Tensor, Traced, id_of, tensors_in
from tapemagic.errors import NotATensorError, OptionError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from numpy.typing import NDArray

    from tapemagic.engine.tensor.result_types import HasResults, R_co

    S = TypeVar("S", bound=np.generic)

    class Derivative(Protocol):
        """A derivative with respect to the first argument: an array for an array, a tensor for a tensor."""

        @overload
        def __call__(self, x: HasResults[R_co], /, *args: Any, **kwargs: Any) -> R_co: ...
        @overload
        def __call__(self, x: NDArray[S], /, *args: Any, **kwargs: Any) -> NDArray[S]: ...
        @overload
        def __call__(self, x: Any, /, *args: Any, **kwargs: Any) -> Any: ...

    class Gradient(Derivative, Protocol):
        """Like `Derivative`, and a number for a number."""

        @overload
        def __call__(self, x: HasResults[R_co], /, *args: Any, **kwargs: Any) -> R_co: ...
        @overload
        def __call__(self, x: NDArray[S], /, *args: Any, **kwargs: Any) -> NDArray[S]: ...
        @overload
        def __call__(self, x: float, /, *args: Any, **kwargs: Any) -> np.float64: ...
        @overload
        def __call__(self, x: Any, /, *args: Any, **kwargs: Any) -> Any: ...

    class ValueAndGradient(Protocol):
        """A pair of the value and the gradient."""

        @overload
        def __call__(
            self, x: HasResults[R_co], /, *args: Any, **kwargs: Any
        ) -> tuple[R_co, R_co]: ...
        @overload
        def __call__(
            self, x: NDArray[S], /, *args: Any, **kwargs: Any
        ) -> tuple[np.floating[Any], NDArray[S]]: ...
        @overload
        def __call__(
            self, x: float, /, *args: Any, **kwargs: Any
        ) -> tuple[np.float64, np.float64]: ...
        @overload
        def __call__(self, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]: ...


Argnums = int | tuple[int, ...]

NUMBERS = (int, float, complex, np.number)
"""The types of entries in a list that represents an array."""


class Run:
    """A single call of a function on a tape that watches some of its arguments."""

    def __init__(
        self, function: Function, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        positions = _positions(function, argnums, len(args))
        inputs = list(args)
        for k in positions:
            inputs[k] = _tensors(inputs[k], function, k)
        watched = tuple(inputs[k] for k in positions)
        self.function = function
        self._positions, self._several = positions, isinstance(argnums, tuple)
        self._keeps_tensors = any(_has_tensor(args[k]) for k in positions) or bool(
            live() and _live_tapes_track((args, kwargs))
        )
        self.sources: Any = watched if isinstance(argnums, tuple) else watched[0]
        # Persistent, because a Jacobian or a pullback may ask more than once.
        self.tape = Tape(persistent=True)
        with self.tape:
            self.tape.watch(watched)
            self.result = checked_result(function, function(*inputs, **kwargs))

    @property
    def scalar(self) -> Tensor:
        """The result, which must be a single number."""
        result = checked_tensor(self.function, self.result)
        if result.shape != ():
            raise ShapeError(
                f"{name_of(self.function)} returned shape {result.shape}, but a gradient needs a single number: "
                "sum it with np.sum, or use jacobian"
            )
        kind = result.dtype.kind
        if kind not in "fc":
            raise NotATensorError(
                f"{name_of(self.function)} returned {result.dtype}, but only real and complex numbers have "
                "derivatives: compute it without rounding to integers"
            )
        if kind == "c" and all(x.dtype.kind == "f" for x in leaves(self.sources)):
            raise NotATensorError(
                f"{name_of(self.function)} returned {result.dtype} for real arguments, but a gradient needs a real "
                "number: return np.real(y) or np.abs(y)**2"
            )
        return result._read()

    @property
    def outputs(self) -> list[Traced]:
        """The tensors in the result."""
        return [checked_tensor(self.function, y) for y in leaves(self.result)]

    def gradient(self, target: Any, weights: Any = None) -> Any:
        """Return the gradient of a target in the structure of the arguments; unconnected arguments get zeros."""
        gradient = self.tape.gradient(target, self.sources, weights, "zero")
        self._warn_of_conversions(gradient)
        return gradient

    def jacobian(self) -> Any:
        """Return the Jacobians of each tensor in the result, in the structure of the arguments."""
        parts = [self.tape.jacobian(y, self.sources, "zero") for y in self.outputs]
        if len(parts) == 1:
            self._warn_of_conversions(parts[0])
        return pack(self.result, parts)

    def _warn_of_conversions(self, gradients: Any) -> None:
        """Warn if a gradient is zeros, and the function converted its argument to plain numbers.

        SciPy would take zeros for the gradient at a minimum, and report success.
        """
        if gradients.__class__ is Tensor and id_of(gradients) != CONSTANT:
            return  # the usual case
        several = self._several
        for k, position in enumerate(self._positions):
            zeros = leaves(gradients[k] if several else gradients)
            sources = leaves(self.sources[k] if several else self.sources)
            # The zeros of an unconnected source are constants; a computed gradient has the stamp of its time, or an id.
            lost = {id_of(x) for g, x in zip(zeros, sources, strict=True) if id_of(g) == CONSTANT}
            if lost and (event := _conversion(contents_of(self.tape), lost)):
                place = event.place
                warn_explicit(
                    f"the gradient of {name_of(self.function)} with respect to argument {position} is 0, and "
                    f"{event.what} on line {place.line} ({source_line(place).strip()}) made plain numbers of it, which "
                    "no tape can follow: if the result depends on them, compute it with NumPy from the argument itself",
                    UserWarning,
                    place.file,
                    place.line,
                    registry=_WARNED,
                )

    def answer(self, *results: Any, directions: tuple[Any, ...] = ()) -> Any:
        """Return computed tensors as plain arrays and numbers, unless there is a reason for tensors.

        The reasons are tensors among the arguments that are differentiated or among `directions`, a live tape that
        tracks an argument, the function's value or a result, and results that Dask hasn't computed.
        """
        if not (
            self._keeps_tensors
            or tensors_in(directions)
            or (live() and _live_tapes_track(leaves((results, self.result))))
            or (gates and any(is_lazy(y._value) for y in leaves(results)))
        ):
            results = tuple(map(_plain, results))
        return results if len(results) > 1 else results[0]


_WARNED: dict[Any, Any] = {}
"""The warnings that were shown: Python shows each of them once per line, however often a solver calls the function."""


def _conversion(recorded: Contents, sources: set[int]) -> Any:
    """Return the first event that made plain numbers of a value that depends on one of the sources, or None.

    Comparisons and integers don't count: their derivative is 0.
    """
    reached = set(sources)
    for record in recorded.records:
        if not reached.isdisjoint(record[2]):
            reached.update(outputs_of(record))
    exits = (e for e in recorded.events if e.kind == "exit" and e.place and not is_flat(e))
    return next((e for e in exits if e.number in reached), None)


def _has_tensor(value: Any) -> bool:
    """Return True for a tensor or variable, or a structure that contains one."""
    return isinstance(value, Traced) or (not is_leaf(value) and bool(tensors_in(leaves(value))))


def _live_tapes_track(values: Any) -> bool:
    """Return True if a live tape tracks a tensor in a structure, or would watch a variable in it."""
    tapes = live()
    try:
        tensors = tensors_in([values])
    except RecursionError:  # an argument that isn't differentiated may contain itself
        return True
    return any(
        getattr(x, "trainable", False) or any(id_of(x) in tape._tracked for tape in tapes)
        for x in tensors
    )


def _plain(result: Any) -> Any:
    """Return a tensor, or the tensors of a structure, as arrays and NumPy scalars."""
    if isinstance(result, Traced):
        return plain_copy(result._value)
    return pack(result, [plain_copy(y._value) for y in leaves(result)])


def plain_copy(value: Any) -> Any:
    """Copy an array; return an array of a single number as a NumPy scalar."""
    # A copy, because a tape may still read the value, and a gradient may be a read-only view: SciPy's Newton-CG writes
    # into the gradient that it receives.
    return value.copy() if value.ndim else value[()]


def _positions(function: Function, argnums: Argnums, count: int) -> list[int]:
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in positions:
        if isinstance(k, bool) or not isinstance(k, int):
            raise OptionError(
                f"argnums must be a position, or a tuple of positions, not {shown(argnums)}"
            )
    if not positions:
        raise OptionError("argnums is empty: name at least one position")
    return checked_positions(positions, "argnums", function, count, " by position")


def _tensors(value: Any, function: Function, position: int) -> Any:
    """Convert an argument to new tensors in the same structure."""
    if is_leaf(value):
        return source_of(value, function, position)
    tensors = [source_of(x, function, position) for x in leaves(value, is_leaf=is_array)]
    return pack(value, tensors, is_array)


def source_of(value: Any, function: Function, position: int) -> Any:
    """Convert an argument, or a part of an argument, to a new tensor of real or complex numbers."""
    x = argument(value, function, position)
    if x.dtype.kind not in "fc":
        raise NotATensorError(
            f"argument {position} of {name_of(function)} holds {x.dtype}, but only real and complex numbers have "
            f"derivatives: write {float(x._value) if not x.ndim else 'x.astype(float)'}"
        )
    return x


def is_array(value: Any) -> bool:
    """Return True if a value isn't a structure, but a number, an array, or a list that represents an array."""
    return is_leaf(value) or (isinstance(value, list) and _of_numbers(value))


def _of_numbers(value: list[Any]) -> bool:
    """Return True if a list contains only numbers, and lists and tuples of numbers."""
    return all(
        _of_numbers(list(x)) if isinstance(x, (list, tuple)) else isinstance(x, NUMBERS)
        for x in value
    )


@overload
def grad(function: Function, argnums: Literal[0] = 0) -> Gradient: ...
@overload
def grad(function: Function, argnums: Argnums) -> Function: ...
def grad(function: Function, argnums: Argnums = 0) -> Function:
    """Return a function that computes the gradient of a function with a single number as its result.

    Parameters
    ----------
    function : callable
        A function of numbers, arrays, or structures of arrays.
    argnums : int or tuple of int, optional
        The positions of the arguments to differentiate with respect to.

    Returns
    -------
    callable
        Takes the function's arguments; returns the gradient in the structure of the argument, or a tuple of
        gradients. It is differentiable again. The gradient is zeros if the function doesn't depend on an argument.

        Gradients with respect to plain arrays and numbers are plain arrays and numbers, as SciPy's solvers need them.
        They are tensors if you pass tensors or Dask arrays, or if a live tape tracks something that the function reads.

    Raises
    ------
    FunctionError
        When called, if the function returns None.
    NotATensorError
        When called, if the result isn't a tensor, or an argument contains integers or something other than numbers.
    OptionError
        When called, if `argnums` contains a position without argument.
    ShapeError
        When called, if the result isn't a single number.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> f = lambda x: np.sum(x**3)
    >>> tm.grad(f)(np.array([1.0, 2.0])), tm.grad(tm.grad(f))(2.0)
    (array([ 3., 12.]), np.float64(12.0))
    >>> tm.grad(f)(tm.constant([1.0, 2.0]))
    Tensor([ 3., 12.])
    """
    return second(value_and_grad(function, argnums))


@overload
def value_and_grad(function: Function, argnums: Literal[0] = 0) -> ValueAndGradient: ...
@overload
def value_and_grad(function: Function, argnums: Argnums) -> Callable[..., tuple[Any, Any]]: ...
def value_and_grad(function: Function, argnums: Argnums = 0) -> Function:
    """Return a function that computes the value and the gradient of a function.

    Parameters
    ----------
    function, argnums : see `grad`

    Returns
    -------
    callable
        Takes the function's arguments; returns a pair: the value, and the result of `grad`.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    (np.float64(6.0), (np.float64(3.0), np.float64(2.0)))
    """
    require_function(function)

    @wraps(function)
    def both(*args: Any, **kwargs: Any) -> Any:
        run = Run(function, argnums, args, kwargs)
        value = run.scalar
        return run.answer(value, run.gradient(value))

    return both


@overload
def jacobian(function: Function, argnums: Literal[0] = 0) -> Derivative: ...
@overload
def jacobian(function: Function, argnums: Argnums) -> Function: ...
def jacobian(function: Function, argnums: Argnums = 0) -> Function:
    """Return a function that computes the derivative of each element of the result in each element of an argument.

    Parameters
    ----------
    function : callable
        A function that returns a tensor, or a structure of tensors.
    argnums : int or tuple of int, optional, see `grad`

    Returns
    -------
    callable
        Takes the function's arguments; returns arrays of shape ``result.shape + argument.shape``, in the structure of
        the result, each entry in the structure of the argument.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.jacobian(np.cumsum)(np.array([1.0, 2.0]))
    array([[1., 0.],
           [1., 1.]])
    """
    require_function(function)

    @wraps(function)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        run = Run(function, argnums, args, kwargs)
        return run.answer(run.jacobian())

    return matrix


@overload
def hessian(function: Function, argnums: Literal[0] = 0) -> Derivative: ...
@overload
def hessian(function: Function, argnums: Argnums) -> Function: ...
def hessian(function: Function, argnums: Argnums = 0) -> Function:
    """Return a function that computes second derivatives; for a function with a single number, its Hessian matrix.

    Parameters
    ----------
    function, argnums : see `jacobian`

    Returns
    -------
    callable
        Takes the function's arguments; returns arrays of shape ``result.shape + x.shape + x.shape``. For several
        arguments, or an argument that is a structure, it returns the nested blocks of the matrix.

    Notes
    -----
    At a kink of a function with branches, such as ``relu``, the Hessian is that of one branch. Where the first
    derivative is a slope that no branch has, as for a norm at 0, it is nan: write ``np.sum(v * v)``, not
    ``np.linalg.norm(v)**2``.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return jacobian(jacobian(function, argnums), argnums)
