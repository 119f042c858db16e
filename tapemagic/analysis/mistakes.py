"""The usual slips in derivatives by hand, where one of them explains every difference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

Near = Callable[[Any, Any], Any]
"""Which entries of two arrays agree."""

WHOLE = 1e-6
"""A factor so close to a whole number is one."""

EXACT = 1e-9
"""The relative error within which a forgotten factor has to explain every entry."""

TRANSPOSED = "Yours is the transpose of the tape's: write .T behind it."
YOURS, THEN = "Yours", "Even so it"


def near(rtol: float, atol: float) -> Near:
    """Agreement as `numpy.isclose` has it, relative to the second array; two nan agree."""
    return partial(np.isclose, rtol=rtol, atol=atol, equal_nan=True)


def slip(
    mine: Any,
    tape: Any,
    agree: Near,
    lengths: Collection[int] = (),
    means: Collection[int] = (),
) -> str:
    """The slip that made an array of the gradient, in a sentence; empty if no slip alone did.

    Parameters
    ----------
    mine, tape : array
        What was derived by hand, and the gradient; they differ somewhere, or in shape.
    agree : callable
        Which entries of two arrays agree: see `near`.
    lengths : collection of int, optional
        How many numbers a sum may have been taken of, or a mean.
    means : collection of int, optional
        How many numbers the target is a mean of, perhaps of several kinds.

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
    >>> slip(1.5 * tape, tape, near(1e-6, 0.0), means={3})
    "Yours is 1.5 times the tape's everywhere: did you forget the 2 of the squares and the 1/3 of their mean?"
    """
    numbers = partial(_of_numbers, agree=agree, lengths=lengths, means=means)
    if mine.shape != tape.shape:
        return _of_shape(mine, tape, agree, numbers) if mine.size and tape.size else ""
    return numbers(mine, tape) or _transposed(mine, tape, agree, numbers)


def forgotten(mine: Any, tape: Any, named: Sequence[tuple[str, Any]]) -> str:
    """The array by which every entry has to be multiplied or divided, in a sentence; empty if there is none.

    Parameters
    ----------
    mine, tape : array
        What was derived by hand, and the gradient, of one shape.
    named : sequence of (str, array)
        What may be a factor that the chain rule asks for, beside a whole number; others are passed over.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> forgotten(np.cos(x**2), 2 * x * np.cos(x**2), [("x", x)])
    'Yours times 2 * x agrees in every entry: is this factor missing, as from the chain rule?'
    """
    agree = near(EXACT, EXACT * np.max(np.abs(tape), initial=0.0))
    used = np.flatnonzero(mine)
    for name, value in named:
        if np.shape(value) != tape.shape or len(np.unique(np.ravel(value)[used])) < 2:
            continue
        with np.errstate(all="ignore"):
            missing = _whole_times(mine * value, tape, agree)
            extra = _whole_times(tape * value, mine, agree)
        if missing:
            factor = name if missing == "1" else f"{missing} * {name}"
            return (
                f"Yours times {factor} agrees in every entry: is this factor missing, "
                "as from the chain rule?"
            )
        if extra:
            factor = name if extra == "1" else f"({extra} * {name})"
            return f"Yours divided by {factor} agrees in every entry: is this factor too many?"
    return ""


def _whole_times(a: Any, b: Any, agree: Near) -> str:
    """The whole number by which one array has to be multiplied to be the other; empty if there is none."""
    largest = np.argmax(np.abs(b))
    factor = b.flat[largest] / a.flat[largest]
    if not np.isfinite(factor):
        return ""
    whole = round(factor.real)
    return str(whole) if whole and np.all(agree(a * whole, b)) else ""


def _same(a: Any, b: Any, agree: Near) -> bool:
    """Whether two arrays agree, shape and all."""
    return a.shape == b.shape and bool(np.all(agree(a, b)))


def _transposed(mine: Any, tape: Any, agree: Near, numbers: Callable[..., str]) -> str:
    """That one matrix is the transpose of the other, perhaps times a number."""
    if mine.ndim < 2 or mine.T.shape != tape.shape:
        return ""
    if np.all(agree(mine.T, tape)):
        return TRANSPOSED
    more = numbers(mine.T, tape, THEN) if np.count_nonzero(tape) > 1 else ""
    return more and f"Yours is transposed: write .T behind it. {more}"


def _of_shape(mine: Any, tape: Any, agree: Near, numbers: Callable[..., str]) -> str:
    """Why an array has another shape than the gradient."""
    transposed = _transposed(mine, tape, agree, numbers)
    if transposed == TRANSPOSED:
        return transposed
    if mine.size == tape.size:
        reshaped = mine.reshape(tape.shape)
        write = f"write .reshape({tape.shape}) behind yours"
        if not tape.ndim:
            write = f"write .reshape(()) or {[0] * mine.ndim} behind yours"
        if np.all(agree(reshaped, tape)):
            return f"The numbers agree: {write}."
        if transposed or _without_ones(mine) != _without_ones(tape):
            return transposed
        more = numbers(reshaped, tape, THEN)
        return more and f"W{write[1:]}. {more}"
    if mine.size == 1 and np.all(agree(mine, tape)):
        return f"Every entry is the same number as yours: write np.full({tape.shape}, ...)."
    for call, reduced in _reductions(mine):
        if reduced.size == tape.size and np.all(agree(reduced.reshape(tape.shape), tape)):
            return (
                f"{call} of yours agrees: where a source is used for several results, "
                "its gradient adds up what comes from each of them."
            )
    for call, reduced in _reductions(tape):
        if np.any(mine) and _same(mine, reduced, agree):
            return (
                f"Yours is {call} of the tape's: the gradient has an entry for every one of the "
                "source's, so leave that out."
            )
    return ""


def _without_ones(x: Any) -> list[int]:
    """An array's shape without the axes of length one."""
    return [n for n in x.shape if n != 1]


def _reductions(x: Any) -> Iterator[tuple[str, Any]]:
    """Sums and means of an array, over each axis and over all."""
    for reduce in (np.sum, np.mean):
        name = f"np.{reduce.__name__}(...)"
        yield name, reduce(x)
        for axis in range(x.ndim):
            yield f"{name[:-1]}, axis={axis})", reduce(x, axis=axis)


def wrong_axis(mine: Any, tape: Any, parts: Any, agree: Near) -> str:
    """That the parts which make up the gradient were added up along another axis, or averaged.

    Parameters
    ----------
    mine, tape : array
        What was derived by hand, and the gradient.
    parts : array
        The gradient with respect to what the source was broadcast to.
    agree : callable
        Which entries of two arrays agree: see `near`.

    Returns
    -------
    str
        A sentence; empty if that is not so.
    """
    mine, tape = np.squeeze(mine), np.squeeze(tape)
    if _same(mine, tape, agree):
        return ""
    for axis in range(parts.ndim):
        right = f"np.sum(..., axis={axis})"
        if not _same(np.squeeze(np.sum(parts, axis=axis)), tape, agree):
            continue
        for call, reduced in _reductions(parts):
            if np.any(mine) and call != right and _same(mine, np.squeeze(reduced), agree):
                return (
                    f"You took {call} in place of {right}: the source was used for every index of "
                    f"axis {axis}, and its gradient adds up what comes from each."
                )
    return ""


def _of_numbers(
    mine: Any,
    tape: Any,
    it: str = YOURS,
    *,
    agree: Near,
    lengths: Collection[int],
    means: Collection[int],
) -> str:
    """What was done to the numbers of an array of the gradient's shape: `it` is what to call the array."""
    differs = ~agree(mine, tape)
    a, b = mine[differs], tape[differs]
    everywhere = len(b) == np.count_nonzero(tape)
    if it != YOURS and not everywhere:
        return ""
    where = "" if not tape.ndim else " everywhere" if everywhere else " where they differ"
    if np.all(agree(-a, b)):
        return f"{it} has the opposite sign{where}."
    if np.all(agree(np.conjugate(a), b)):
        return (
            f"{it} is the conjugate of the tape's{where}: with respect to a complex number, "
            "the tape gives the conjugate of the derivative in textbooks."
        )
    said = _of_factor(a, b, where, agree, lengths, means if everywhere else ())
    return said and f"{it} is {said}"


def _of_factor(
    a: Any, b: Any, where: str, agree: Near, lengths: Collection[int], means: Collection[int]
) -> str:
    """By which number all entries were multiplied; of a single entry, only a number with a meaning tells."""
    largest = np.argmax(np.abs(b))
    with np.errstate(all="ignore"):
        factor = a[largest] / b[largest]
        if factor == 0 or not np.isfinite(factor) or not np.all(agree(a / factor, b)):
            return ""
    times, parts = _whole(factor), _whole(1 / factor)
    why = _meaning(factor, lengths, means)
    if not (times or parts or why) and len(b) == 1:
        return ""
    said = f"{times or format(factor, '.6g')} times"
    if parts:
        said = f"{'-' if parts < 0 else ''}1/{abs(parts)} of"
    if why and factor.real < 0:
        why = f"the sign is opposite; {why}"
    return f"{said} the tape's{where}{why and ': '}{why}{'' if why.endswith('?') else '.'}"


def _meaning(factor: Any, lengths: Collection[int], means: Collection[int]) -> str:
    """What a factor may come from, whatever its sign."""
    known = {2.0: "there is a factor of 2 too many", 1 / 2: "a factor of 2 is missing"}
    for n in sorted(n for n in lengths if n > 2):
        known.setdefault(n, f"did you take the sum for the mean of {n} numbers?")
        known.setdefault(1 / n, f"did you take the mean for the sum of {n} numbers?")
    for n in sorted(n for n in means if n > 2):
        forgot = f"did you forget the 2 of the squares and the 1/{n} of their mean?"
        known.setdefault(n / 2, forgot)
        known.setdefault(2 / n, f"is the 2/{n} of a mean of {n} squares in it once too often?")
    if abs(factor.imag) > WHOLE * abs(factor):
        return ""
    close = (why for number, why in known.items() if abs(abs(factor) - number) < WHOLE * number)
    return next(close, "")


def _whole(factor: Any) -> int:
    """The whole number that a factor is, beside 1 and -1; 0 if it is none."""
    whole = round(factor.real)
    return whole if abs(whole) > 1 and abs(factor - whole) < WHOLE * abs(whole) else 0
