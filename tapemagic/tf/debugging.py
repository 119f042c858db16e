"""``tf.debugging``: checks of values, shapes and dtypes."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapemagic.engine.effects import effect
from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import DtypeError, ShapeError
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.core.dtype import as_dtype
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.tensor import eager, is_tensor
from tapemagic.tf.errors import InvalidArgumentError

__all__ = [
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal",
    "assert_integer", "assert_less", "assert_less_equal", "assert_near", "assert_negative",
    "assert_non_negative", "assert_non_positive", "assert_none_equal", "assert_positive",
    "assert_proper_iterable", "assert_rank", "assert_rank_at_least", "assert_rank_in",
    "assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_type", "check_numerics",
    "disable_traceback_filtering", "enable_traceback_filtering", "is_numeric_tensor",
]  # fmt: skip


def _values(called: str, x: Any, y: Any) -> tuple[Any, Any]:
    a, b = matched(called, x, y)
    return unwrap(a), unwrap(b)


def _first(x: Any, count: int | None) -> str:
    shown = 3 if count is None else count
    return str(np.ravel(x)[:shown].tolist())


def _fail(message: str | None, words: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{message or ''}\n{words}".strip())


RELATIONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "assert_equal": ("==", np.equal), "assert_none_equal": ("!=", np.not_equal),
    "assert_less": ("<", np.less), "assert_less_equal": ("<=", np.less_equal),
    "assert_greater": (">", np.greater), "assert_greater_equal": (">=", np.greater_equal),
}  # fmt: skip
"""The sign and the comparison of each check of two tensors."""


@effect
def require_relation(called: str, x: Any, y: Any, message: Any, summarize: Any) -> None:
    """Raise an InvalidArgumentError unless a comparison of two arrays is true everywhere; see `engine.effects`.

    Examples
    --------
    >>> require_relation("assert_less", np.zeros(2), np.ones(2), None, None)
    """
    sign, holds = RELATIONS[called]
    a, b = np.asarray(x), np.asarray(y)
    try:
        is_true = holds(a, b)
    except ValueError:
        raise _fail(message, f"x has shape {a.shape} and y {b.shape}, which do not match") from None
    if not np.all(is_true):
        a, b = np.broadcast_arrays(a, b)
        # Negated, not the opposite comparison: nan is neither less nor greater, and must count as a failure.
        wrong = ~np.asarray(is_true)
        raise _fail(
            message,
            f"Condition x {sign} y did not hold.\nx has {_first(a[wrong], summarize)} where it failed"
            f", and y {_first(b[wrong], summarize)}",
        )


def _compare(called: str) -> Any:
    """Build a check that a comparison of two tensors is true everywhere."""

    def check(
        x: Any,
        y: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        require_relation(called, *_values(called, x, y), message, summarize)

    check.__name__ = check.__qualname__ = called
    sign = RELATIONS[called][0]
    check.__doc__ = f"Raise an InvalidArgumentError unless x {sign} y for each element."
    return check


assert_equal = _compare("assert_equal")
assert_none_equal = _compare("assert_none_equal")
assert_less = _compare("assert_less")
assert_less_equal = _compare("assert_less_equal")
assert_greater = _compare("assert_greater")
assert_greater_equal = _compare("assert_greater_equal")


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise an InvalidArgumentError unless ``abs(x - y) <= atol + rtol * abs(y)`` for each element.

    Both tolerances default to ten times the precision of the dtype.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.debugging.assert_near(0.1 + 0.2, 0.3)
    """
    values = _values("assert_near", x, y)
    require_near(*values, unwrap(rtol), unwrap(atol), message, summarize)


@effect
def require_near(x: Any, y: Any, rtol: Any, atol: Any, message: Any, summarize: Any) -> None:
    """Raise an InvalidArgumentError unless two arrays are near each other; see `assert_near` and `engine.effects`.

    Examples
    --------
    >>> require_near(np.ones(2), np.ones(2), None, None, None, None)
    """
    a, b = np.asarray(x), np.asarray(y)
    # TensorFlow's default tolerance.
    least = 10 * np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0
    absolute = least if atol is None else atol
    relative = least if rtol is None else rtol
    # False for nan, and for inf - inf: such elements are not near each other.
    near = np.abs(a - b) <= absolute + relative * np.abs(b)
    if not np.all(near):
        a, b = np.broadcast_arrays(a, b)
        raise _fail(
            message,
            f"x and y not equal to tolerance rtol = {relative}, atol = {absolute}: x has {_first(a[~near], summarize)} "
            f"where y has {_first(b[~near], summarize)}",
        )


SIGNS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "assert_positive": ("> 0", lambda x: x > 0), "assert_negative": ("< 0", lambda x: x < 0),
    "assert_non_negative": (">= 0", lambda x: x >= 0), "assert_non_positive": ("<= 0", lambda x: x <= 0),
}  # fmt: skip
"""The words and the condition of each check of signs."""


@effect
def require_sign(called: str, x: Any, message: Any, summarize: Any) -> None:
    """Raise an InvalidArgumentError unless all elements have a sign; see `engine.effects`.

    Examples
    --------
    >>> require_sign("assert_positive", np.ones(2), None, None)
    """
    words, holds = SIGNS[called]
    elements = np.asarray(x)
    # As above: nan has no sign, and fails each of the four checks.
    wrong = ~np.asarray(holds(elements))
    if np.any(wrong):
        raise _fail(
            message,
            f"Condition x {words} did not hold element-wise: x has {_first(elements[wrong], summarize)}",
        )


def _sign(called: str) -> Any:
    """Build a check of the sign of each element."""

    def check(
        x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        require_sign(called, unwrap(tensor(x)), message, summarize)

    check.__name__ = check.__qualname__ = called
    words = SIGNS[called][0]
    check.__doc__ = f"Raise an InvalidArgumentError unless x {words} for each element."
    return check


assert_positive = _sign("assert_positive")
assert_negative = _sign("assert_negative")
assert_non_negative = _sign("assert_non_negative")
assert_non_positive = _sign("assert_non_positive")


def Assert(
    condition: Any, data: Any = (), summarize: int | None = None, name: str | None = None
) -> None:
    """Raise an InvalidArgumentError with the `data` unless a condition is true."""
    require_true(unwrap(condition), [unwrap(x) for x in data])


@effect
def require_true(condition: Any, data: Any) -> None:
    """Raise an InvalidArgumentError unless a condition is true; see `Assert` and `engine.effects`.

    Examples
    --------
    >>> require_true(True, [])
    """
    if not bool(condition):
        raise InvalidArgumentError(
            f"Expected '{_shown(condition)}' to be true. Summarized data: {[str(_shown(x)) for x in data]}"
        )


def _shown(x: Any) -> Any:
    """Return a tensor for an array, whose text names shape and dtype."""
    return eager(tensor(x)) if isinstance(x, np.ndarray | np.generic) else x


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """Return the tensor if it contains neither nan nor infinity.

    Raises
    ------
    InvalidArgumentError
        Otherwise, with the message.
    """
    return _finite(tensor, message)


# TensorFlow names a parameter `tensor`, which hides the function in the functions below.
_tensor = tensor


def _finite(x: Any, message: str) -> Any:
    require_finite(unwrap(_tensor(x)), message)
    return x if is_tensor(x) else eager(_tensor(x))


@effect
def require_finite(x: Any, message: str) -> None:
    """Raise an InvalidArgumentError if an array contains nan or infinity; see `engine.effects`.

    Examples
    --------
    >>> require_finite(np.ones(2), "x")
    """
    elements = np.asarray(x)
    problems = [
        word
        for word, wrong in (("Inf", np.isinf(elements)), ("NaN", np.isnan(elements)))
        if wrong.any()
    ]
    if problems:
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(problems)} values")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """Return the tensor if all elements are finite; see `check_numerics`."""
    return _finite(x, message)


def _rank_error(message: str | None, x: Any, expected: str) -> ShapeError:
    return ShapeError(
        f"{message or ''} Tensor must have rank {expected}. Received rank {x.ndim}, shape {x.shape}".strip()
    )


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ShapeError unless the tensor has `rank` axes."""
    x_tensor = tensor(x)
    if x_tensor.ndim != int(rank):
        raise _rank_error(message, x_tensor, str(int(rank)))


def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise a ShapeError unless the tensor has at least `rank` axes."""
    x_tensor = tensor(x)
    if x_tensor.ndim < int(rank):
        raise _rank_error(message, x_tensor, f"at least {int(rank)}")


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ShapeError unless the number of axes is in `ranks`."""
    x_tensor = tensor(x)
    if x_tensor.ndim not in {int(r) for r in ranks}:
        raise _rank_error(message, x_tensor, f"in {tuple(int(r) for r in ranks)}")


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    """Return the tensor if it is a scalar."""
    x_tensor = _tensor(tensor)
    if x_tensor.ndim:
        raise ShapeError(
            f"{message or ''} Expected scalar shape, saw shape: {x_tensor.shape}.".strip()
        )
    return tensor if is_tensor(tensor) else eager(x_tensor)


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise a ShapeError unless tensors have the given shapes; the same letter means the same length.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.debugging.assert_shapes([(tf.ones((2, 3)), ("N", 3)), (tf.ones(2), ("N",))])
    """
    lengths_by_letter: dict[str, int] = {}
    for x, shape in shapes.items() if isinstance(shapes, dict) else shapes:
        x_tensor = tensor(x)
        expected = tuple(shape) if isinstance(shape, Iterable) else (shape,)
        if len(expected) != x_tensor.ndim:
            raise _rank_error(message, x_tensor, str(len(expected)))
        for axis, (length, symbol) in enumerate(zip(x_tensor.shape, expected, strict=True)):
            # None and "." mean any length, as in TensorFlow.
            if symbol is None or symbol == ".":
                continue
            number = (
                lengths_by_letter.setdefault(symbol, length)
                if isinstance(symbol, str)
                else int(symbol)
            )
            if number != length:
                raise ShapeError(
                    f"{message or ''} A tensor of shape {x_tensor.shape} must have size {number} in dimension {axis}, "
                    f"as specified by {symbol!r}, and has {length}".strip()
                )


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise a DtypeError unless the tensor has dtype `tf_type`."""
    dtype, expected = as_dtype(_tensor(tensor).dtype), as_dtype(tf_type)
    if dtype != expected:
        raise DtypeError(
            f"{message or ''} tensor must be of type {expected!r}; got {dtype!r}".strip()
        )


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a DtypeError unless the tensor contains integers."""
    dtype = as_dtype(tensor(x).dtype)
    if not dtype.is_integer:
        raise DtypeError(
            f'{message or ""} Expected "x" to be integer type.  Found: tensor of dtype {dtype}'.strip()
        )


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Return the common dtype of tensors; raise a DtypeError unless it is a floating-point dtype."""
    dtypes = {as_dtype(tensor(x).dtype) for x in tensors or ()} | (
        {as_dtype(dtype)} if dtype is not None else set()
    )
    if len(dtypes) > 1 or not all(x.is_floating for x in dtypes):
        raise DtypeError(
            f"Expected floating point tensors of one type, got {sorted(x.name for x in dtypes)}"
        )
    # TensorFlow's answer for no tensors and no dtype.
    return dtypes.pop() if dtypes else as_dtype("float32")


def assert_proper_iterable(values: Any) -> None:
    """Raise a TypeError unless `values` is a list, tuple or dict."""
    if (
        # A tensor iterates over its rows and a str over its letters, but neither is a collection of values.
        is_tensor(values)
        or isinstance(values, (np.ndarray, str, bytes))
        or not isinstance(values, Iterable)
    ):
        raise TypeError(f"Expected argument {type(values).__name__} to be a list, tuple or dict")


def is_numeric_tensor(tensor: Any) -> builtins.bool:
    """Return True for a tensor of numbers."""
    return is_tensor(tensor) and all(unwrap(x).dtype.kind in "iufc" for x in leaves(tensor))


def enable_traceback_filtering() -> None:
    """Do nothing: tracebacks are never filtered here."""


def disable_traceback_filtering() -> None:
    """Do nothing: tracebacks are never filtered here."""


__getattr__ = missing(__name__, __all__)
