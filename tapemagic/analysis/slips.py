"""The usual slips in derivatives by hand, where one of them explains every difference."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import partial
from typing import Any

import numpy as np

Near = Callable[[Any, Any], Any]
"""Which entries of two arrays agree."""

WHOLE = 1e-6
"""A factor so close to a whole number is one."""

TRANSPOSED = "Yours is the transpose of the tape's: write .T behind it."


def near(rtol: float, atol: float) -> Near:
    """Agreement as `numpy.isclose` has it, relative to the second array; two nan agree."""
    return partial(np.isclose, rtol=rtol, atol=atol, equal_nan=True)


def slip(mine: Any, tape: Any, agree: Near, lengths: Container[int] = ()) -> str:
    """The slip that made an array of the gradient, in a sentence; empty if no slip alone did.

    Parameters
    ----------
    mine, tape : array
        What was derived by hand, and the gradient; they differ somewhere, or in shape.
    agree : callable
        Which entries of two arrays agree: see `near`.
    lengths : container of int, optional
        Of how many numbers a mean may have been taken.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> tape = np.array([2.0, 4.0, 0.0])
    >>> slip(-tape, tape, near(1e-6, 0.0))
    'Yours has the opposite sign everywhere.'
    >>> slip(3 * tape, tape, near(1e-6, 0.0), lengths={3})
    "Yours is 3 times the tape's everywhere: did you take the sum for the mean of 3 numbers?"
    """
    if mine.shape != tape.shape:
        return _of_shape(mine, tape, agree) if mine.size and tape.size else ""
    differs = ~agree(mine, tape)
    a, b = mine[differs], tape[differs]
    where = " everywhere" if len(b) == np.count_nonzero(tape) else " where they differ"
    where = where if tape.ndim else ""
    if np.all(agree(-a, b)):
        return f"Yours has the opposite sign{where}."
    if np.all(agree(np.conjugate(a), b)):
        return (
            f"Yours is the conjugate of the tape's{where}: with respect to a complex number, "
            "the tape gives the conjugate of the derivative in textbooks."
        )
    if tape.ndim == 2 and _same(mine.T, tape, agree):
        return TRANSPOSED
    return _of_factor(a, b, where, agree, lengths)


def _same(a: Any, b: Any, agree: Near) -> bool:
    """Whether two arrays agree, shape and all."""
    return a.shape == b.shape and bool(np.all(agree(a, b)))


def _of_shape(mine: Any, tape: Any, agree: Near) -> str:
    """Why an array has another shape than the gradient."""
    if mine.ndim > 1 and _same(mine.T, tape, agree):
        return TRANSPOSED
    if mine.size == tape.size and np.all(agree(mine.reshape(tape.shape), tape)):
        return f"The numbers agree: write .reshape({tape.shape}) behind yours."
    if mine.size == 1 and np.all(agree(mine, tape)):
        return f"Every entry is the same number as yours: write np.full({tape.shape}, ...)."
    for call, reduced in _reductions(mine):
        if reduced.size == tape.size and np.all(agree(reduced.reshape(tape.shape), tape)):
            return (
                f"{call} of yours agrees: where a source is used for several results, "
                "its gradient adds up what comes from each of them."
            )
    return ""


def _reductions(mine: Any) -> Iterator[tuple[str, Any]]:
    """Sums and means of an array, over each axis and over all."""
    for reduce in (np.sum, np.mean):
        name = f"np.{reduce.__name__}(...)"
        yield name, reduce(mine)
        for axis in range(mine.ndim):
            yield f"{name[:-1]}, axis={axis})", reduce(mine, axis=axis)


def _of_factor(a: Any, b: Any, where: str, agree: Near, lengths: Container[int]) -> str:
    """By which number all entries were multiplied; of a single entry, only a whole number tells."""
    largest = np.argmax(np.abs(b))
    with np.errstate(all="ignore"):
        factor = a[largest] / b[largest]
        if factor == 0 or not np.isfinite(factor) or not np.all(agree(a / factor, b)):
            return ""
    times, parts = _whole(factor), _whole(1 / factor)
    if times:
        said = f"{times} times the tape's{where}"
        why = "there is a factor of 2 too many", "did you take the sum for the mean"
    elif parts:
        said = f"{'-' if parts < 0 else ''}1/{abs(parts)} of the tape's{where}"
        why = "a factor of 2 is missing", "did you take the mean for the sum"
    elif len(b) > 1:
        return f"Yours is {factor:.6g} times the tape's{where}."
    else:
        return ""
    count = abs(times or parts)
    if count == 2:
        return f"Yours is {said}: {why[0]}."
    return f"Yours is {said}" + (f": {why[1]} of {count} numbers?" if count in lengths else ".")


def _whole(factor: Any) -> int:
    """The whole number that a factor is, beside 1 and -1; 0 if it is none."""
    whole = round(factor.real)
    return whole if abs(whole) > 1 and abs(factor - whole) < WHOLE * abs(whole) else 0
