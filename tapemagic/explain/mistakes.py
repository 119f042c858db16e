"""Common mistakes in derivatives by hand: a sentence where a single one explains every difference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

Agree = Callable[[Any, Any], Any]
"""The agreement of two arrays, as an array of truth values for their entries."""

INTEGER_RTOL = 1e-6
"""The relative error within which a factor counts as a whole number."""

FACTOR_RTOL = 1e-9
"""The relative error within which a forgotten factor has to explain every entry."""

TRANSPOSED = "Your result is transposed. Append .T."
YOURS, THEN = "Your result", "It also"


def agreement(rtol: float, atol: float) -> Agree:
    """Agreement as `numpy.isclose` has it, relative to the second array; two nan agree."""
    return partial(np.isclose, rtol=rtol, atol=atol, equal_nan=True)


def find_mistake(
    mine: Any,
    tape: Any,
    agree: Agree,
    lengths: Collection[int] = (),
    means: Collection[int] = (),
) -> str:
    """Name the mistake that made one array of another, in a sentence; empty if no single one did.

    Parameters
    ----------
    mine, tape : array
        The derivative by hand, and the gradient; they differ somewhere, or in shape.
    agree : callable
        The agreement of entries: see `agreement`.
    lengths : collection of int, optional
        Numbers of elements of which a sum, or a mean, may have been taken.
    means : collection of int, optional
        Numbers of elements of which the target is a mean.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> tape = np.array([2.0, 4.0, 0.0])
    >>> agree = agreement(1e-6, 0.0)
    >>> find_mistake(-tape, tape, agree)
    'Your result has the opposite sign everywhere.'
    >>> find_mistake(3 * tape, tape, agree, lengths={3})
    "Your result is 3 times the tape's everywhere. Did you use np.sum instead of np.mean (3 values)?"
    >>> find_mistake(1.5 * tape, tape, agree, means={3})
    "Your result is 1.5 times the tape's everywhere. Did you forget the 2 of the squares and the 1/3 of their mean?"
    """
    search = _Search(agree, lengths, means)
    if mine.shape == tape.shape:
        return search.in_numbers(mine, tape) or search.in_transpose(mine, tape)
    return search.in_shape(mine, tape) if mine.size and tape.size else ""


def find_factor(mine: Any, tape: Any, named: Sequence[tuple[str, Any]]) -> str:
    """Name the array by which every entry has to be multiplied or divided, in a sentence; empty if there is none.

    Parameters
    ----------
    mine, tape : array
        The derivative by hand, and the gradient, of one shape.
    named : sequence of (str, array)
        Possible factors of the chain rule, up to a whole number; those of other shapes are passed over.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> find_factor(np.cos(x**2), 2 * x * np.cos(x**2), [("x", x)])
    'Your result times 2 * x agrees in every entry. Is this factor missing, as from the chain rule?'
    """
    agree = agreement(FACTOR_RTOL, FACTOR_RTOL * np.max(np.abs(tape), initial=0.0))
    used = np.flatnonzero(mine)
    for name, value in named:
        if np.shape(value) != tape.shape or len(np.unique(np.ravel(value)[used])) < 2:
            continue
        with np.errstate(all="ignore"):
            missing = _integer_ratio(mine * value, tape, agree)
            extra = _integer_ratio(tape * value, mine, agree)
        if missing:
            factor = name if missing == "1" else f"{missing} * {name}"
            return (
                f"Your result times {factor} agrees in every entry. Is this factor missing, "
                "as from the chain rule?"
            )
        if extra:
            factor = name if extra == "1" else f"({extra} * {name})"
            return f"Your result divided by {factor} agrees in every entry. Is this factor in it twice?"
    return ""


def find_wrong_axis(mine: Any, tape: Any, parts: Any, agree: Agree) -> str:
    """Say that the parts of a gradient were summed along another axis, or averaged; empty if they were not.

    Parameters
    ----------
    mine, tape : array
        The derivative by hand, and the gradient.
    parts : array
        The gradient with respect to the result to which the source was broadcast.
    agree : callable
        The agreement of entries: see `agreement`.

    Returns
    -------
    str
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
                    f"You used {call}, but you need {right}: the source was used for every index of "
                    f"axis {axis}, so its gradient is the sum over that axis."
                )
    return ""


@dataclass(frozen=True)
class _Search:
    """The search for one mistake that explains all differences; each method returns a sentence, or nothing."""

    agree: Agree
    lengths: Collection[int]
    means: Collection[int]

    def in_transpose(self, mine: Any, tape: Any) -> str:
        """Whether one matrix is the transpose of the other, perhaps times a number."""
        if mine.ndim < 2 or mine.T.shape != tape.shape:
            return ""
        if np.all(self.agree(mine.T, tape)):
            return TRANSPOSED
        more = self.in_numbers(mine.T, tape, THEN) if np.count_nonzero(tape) > 1 else ""
        return more and f"{TRANSPOSED} {more}"

    def in_shape(self, mine: Any, tape: Any) -> str:
        """The mistake by which the derivative by hand has another shape than the gradient."""
        transposed = self.in_transpose(mine, tape)
        if transposed == TRANSPOSED:
            return transposed
        if mine.size == tape.size:
            reshaped = mine.reshape(tape.shape)
            write = f"Append .reshape({tape.shape}) to your result"
            if not tape.ndim:
                write = f"Append .reshape(()) or {[0] * mine.ndim} to your result"
            if np.all(self.agree(reshaped, tape)):
                return f"The numbers agree. {write}."
            if transposed or np.squeeze(mine).shape != np.squeeze(tape).shape:
                return transposed
            more = self.in_numbers(reshaped, tape, THEN)
            return more and f"{write}. {more}"
        if mine.size == 1 and np.all(self.agree(mine, tape)):
            return f"Every entry is the number in your result. Write np.full({tape.shape}, ...)."
        for call, reduced in _reductions(mine):
            if reduced.size == tape.size and _same(reduced.reshape(tape.shape), tape, self.agree):
                return (
                    f"{call} of your result agrees: if a source is used for several results, "
                    "its gradient is the sum over all of them."
                )
        for call, reduced in _reductions(tape):
            if np.any(mine) and _same(mine, reduced, self.agree):
                return (
                    f"Your result is {call} of the tape's, but the gradient has an entry for every entry of the "
                    "source. Remove that call."
                )
        return ""

    def in_numbers(self, mine: Any, tape: Any, it: str = YOURS) -> str:
        """By what the numbers of two arrays of one shape differ; `it` is what the sentence calls the first."""
        differs = ~self.agree(mine, tape)
        a, b = mine[differs], tape[differs]
        everywhere = len(b) == np.count_nonzero(tape)
        if it != YOURS and not everywhere:
            return ""
        where = "" if not tape.ndim else " everywhere" if everywhere else " where they differ"
        if np.all(self.agree(-a, b)):
            return f"{it} has the opposite sign{where}."
        if np.all(self.agree(np.conjugate(a), b)):
            return (
                f"{it} is the conjugate of the tape's{where}: for a complex source, "
                "the tape returns the conjugate of the derivative in textbooks."
            )
        said = self.in_factor(a, b, where, self.means if everywhere else ())
        return said and f"{it} is {said}"

    def in_factor(self, a: Any, b: Any, where: str, means: Collection[int]) -> str:
        """By which number all entries were multiplied; a single entry tells only a number with a meaning."""
        largest = np.argmax(np.abs(b))
        with np.errstate(all="ignore"):
            factor = a[largest] / b[largest]
            if factor == 0 or not np.isfinite(factor) or not np.all(self.agree(a / factor, b)):
                return ""
        times, parts = _as_integer(factor), _as_integer(1 / factor)
        why = self.meaning(factor, means)
        if not (times or parts or why) and len(b) == 1:
            return ""
        said = f"{times or format(factor, '.6g')} times"
        if parts:
            said = f"{'-' if parts < 0 else ''}1/{abs(parts)} of"
        if why and factor.real < 0:
            why = f"The sign is opposite. {why}"
        return f"{said} the tape's{where}{why and '. '}{why}{'' if why.endswith('?') else '.'}"

    def meaning(self, factor: Any, means: Collection[int]) -> str:
        """The operation from which a factor may come, whatever its sign."""
        known = {2.0: "It has a factor of 2 too many", 1 / 2: "A factor of 2 is missing"}
        for n in sorted(n for n in self.lengths if n > 2):
            known.setdefault(n, f"Did you use np.sum instead of np.mean ({n} values)?")
            known.setdefault(1 / n, f"Did you use np.mean instead of np.sum ({n} values)?")
        for n in sorted(n for n in means if n > 2):
            forgot = f"Did you forget the 2 of the squares and the 1/{n} of their mean?"
            known.setdefault(n / 2, forgot)
            known.setdefault(2 / n, f"Is the 2/{n} of a mean of {n} squares in it twice?")
        if abs(factor.imag) > INTEGER_RTOL * abs(factor):
            return ""
        close = (why for n, why in known.items() if abs(abs(factor) - n) < INTEGER_RTOL * n)
        return next(close, "")


def _integer_ratio(a: Any, b: Any, agree: Agree) -> str:
    """The whole number by which one array has to be multiplied to be the other; empty if there is none."""
    largest = np.argmax(np.abs(b))
    factor = b.flat[largest] / a.flat[largest]
    if not np.isfinite(factor):
        return ""
    whole = round(factor.real)
    return str(whole) if whole and np.all(agree(a * whole, b)) else ""


def _as_integer(factor: Any) -> int:
    """The whole number that a factor is, beside 1 and -1; 0 if it is none."""
    whole = round(factor.real)
    return whole if abs(whole) > 1 and abs(factor - whole) < INTEGER_RTOL * abs(whole) else 0


def _same(a: Any, b: Any, agree: Agree) -> bool:
    """Whether two arrays agree, shape and all."""
    return a.shape == b.shape and bool(np.all(agree(a, b)))


def _reductions(x: Any) -> Iterator[tuple[str, Any]]:
    """Sums and means of an array, over all and over each axis, each with its call as text."""
    for reduce in (np.sum, np.mean):
        name = f"np.{reduce.__name__}(...)"
        yield name, reduce(x)
        for axis in range(x.ndim):
            yield f"{name[:-1]}, axis={axis})", reduce(x, axis=axis)
