"""Recognize common mistakes in derivatives by hand, if a single one explains every difference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

Agree = Callable[[Any, Any], Any]
"""Compares two arrays, and returns an array of bools for their entries."""

INTEGER_RTOL = 1e-6
"""The relative tolerance for taking a factor for an integer."""

FACTOR_RTOL = 1e-9
"""The relative tolerance within which a missing factor must explain every entry."""

TRANSPOSED = "Your result is transposed. Append .T."
YOURS, THEN = "Your result", "It also"


def agreement(rtol: float, atol: float) -> Agree:
    """Return a comparison like `numpy.isclose`, relative to the second array, where nan equals nan."""
    return partial(np.isclose, rtol=rtol, atol=atol, equal_nan=True)


def find_mistake(
    mine: Any,
    tape: Any,
    agree: Agree,
    lengths: Collection[int] = (),
    means: Collection[int] = (),
) -> str:
    """Name the mistake that leads from a gradient to the derivative by hand, in a sentence.

    - `mine`, `tape`: The derivative by hand, and the gradient, which differ in entries or in shape.
    - `agree`: Compares the entries of two arrays (see `agreement`).
    - `lengths`: Numbers of elements that a sum or a mean may have used.
    - `means`: Numbers of elements that the target averages.

    Returns str: empty if no single mistake explains all differences.

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
    """Name the array that every entry must be multiplied or divided by, in a sentence.

    - `mine`, `tape`: The derivative by hand, and the gradient, of the same shape.
    - `named`: Sequence of (str, array). Arrays that may be a missing factor, up to an integer. Other shapes are
      ignored.

    Returns str: empty if no array is such a factor.

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
        # A constant array is a plain factor, which `find_mistake` recognizes.
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
    """Say that the parts of a gradient were summed along the wrong axis, or averaged.

    - `mine`, `tape`: The derivative by hand, and the gradient.
    - `parts`: The gradient with respect to the result that the source was broadcast to.
    - `agree`: Compares the entries of two arrays (see `agreement`).

    Returns str: empty if the axis isn't the mistake.
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
    """The search for one mistake that explains all differences. Each method returns a sentence, or ''."""

    agree: Agree
    lengths: Collection[int]
    means: Collection[int]

    def in_transpose(self, mine: Any, tape: Any) -> str:
        """Recognize a transposed matrix, possibly times a number."""
        if mine.ndim < 2 or mine.T.shape != tape.shape:
            return ""
        if np.all(self.agree(mine.T, tape)):
            return TRANSPOSED
        more = self.in_numbers(mine.T, tape, THEN) if np.count_nonzero(tape) > 1 else ""
        return more and f"{TRANSPOSED} {more}"

    def in_shape(self, mine: Any, tape: Any) -> str:
        """Recognize a mistake that gives the derivative by hand a different shape."""
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
        """Recognize how the numbers of two arrays of the same shape differ. `it` is the subject of the sentence."""
        differs = ~self.agree(mine, tape)
        a, b = mine[differs], tape[differs]
        everywhere = len(b) == np.count_nonzero(tape)
        # Two mistakes at once are credible only if the second concerns all entries.
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
        predicate = self.in_factor(a, b, where, self.means if everywhere else ())
        return predicate and f"{it} is {predicate}"

    def in_factor(self, a: Any, b: Any, where: str, means: Collection[int]) -> str:
        """Recognize a number that all entries were multiplied by."""
        largest = np.argmax(np.abs(b))
        # Dividing by a zero gives inf or nan, which the test below rejects.
        with np.errstate(all="ignore"):
            factor = a[largest] / b[largest]
            if factor == 0 or not np.isfinite(factor) or not np.all(self.agree(a / factor, b)):
                return ""
        times, parts = _as_integer(factor), _as_integer(1 / factor)
        why = self.meaning(factor, means)
        # Any two numbers differ by some factor, so a single entry needs a factor with a meaning.
        if not (times or parts or why) and len(b) == 1:
            return ""
        amount = f"{times or format(factor, '.6g')} times"
        if parts:
            amount = f"{'-' if parts < 0 else ''}1/{abs(parts)} of"
        if why and factor.real < 0:
            why = f"The sign is opposite. {why}"
        return f"{amount} the tape's{where}{why and '. '}{why}{'' if why.endswith('?') else '.'}"

    def meaning(self, factor: Any, means: Collection[int]) -> str:
        """Say which usual slip leads to a factor, regardless of its sign."""
        meanings = {2.0: "It has a factor of 2 too many", 1 / 2: "A factor of 2 is missing"}
        # A factor of 1 isn't a mistake, and 2 is named above. Sorted, since setdefault keeps the first meaning.
        for n in sorted(n for n in self.lengths if n > 2):
            meanings.setdefault(n, f"Did you use np.sum instead of np.mean ({n} values)?")
            meanings.setdefault(1 / n, f"Did you use np.mean instead of np.sum ({n} values)?")
        for n in sorted(n for n in means if n > 2):
            forgot = f"Did you forget the 2 of the squares and the 1/{n} of their mean?"
            meanings.setdefault(n / 2, forgot)
            meanings.setdefault(2 / n, f"Is the 2/{n} of a mean of {n} squares in it twice?")
        if abs(factor.imag) > INTEGER_RTOL * abs(factor):
            return ""
        close = (why for n, why in meanings.items() if abs(abs(factor) - n) < INTEGER_RTOL * n)
        return next(close, "")


def _integer_ratio(a: Any, b: Any, agree: Agree) -> str:
    """Return the integer factor from the first array to the second as text, or ''."""
    largest = np.argmax(np.abs(b))
    factor = b.flat[largest] / a.flat[largest]
    if not np.isfinite(factor):
        return ""
    ratio = round(factor.real)
    return str(ratio) if ratio and np.all(agree(a * ratio, b)) else ""


def _as_integer(factor: Any) -> int:
    """Return a factor as an integer, or 0 if it isn't an integer other than 1 and -1."""
    integer = round(factor.real)
    return (
        integer if abs(integer) > 1 and abs(factor - integer) < INTEGER_RTOL * abs(integer) else 0
    )


def _same(a: Any, b: Any, agree: Agree) -> bool:
    """Return True if two arrays agree in shape and in all entries."""
    return a.shape == b.shape and bool(np.all(agree(a, b)))


def _reductions(x: Any) -> Iterator[tuple[str, Any]]:
    """Yield the sums and means of an array, over all axes and over each, together with the call as text."""
    for reduce in (np.sum, np.mean):
        name = f"np.{reduce.__name__}(...)"
        yield name, reduce(x)
        for axis in range(x.ndim):
            yield f"{name[:-1]}, axis={axis})", reduce(x, axis=axis)
