"""%check_gradient: compare a derivative by hand with the tape's gradient."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.drawing.elements import aligned, element
from tapemagic.drawing.styles import BAD, CODE, GOOD
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tensor.coercion import private_array
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.explain.formatting import derivative_symbol, format_number
from tapemagic.explain.lazy_values import with_numbers
from tapemagic.explain.likely_mistake import likely_mistake
from tapemagic.explain.missing_parts import missing
from tapemagic.explain.mistakes import agreement
from tapemagic.ipython import names
from tapemagic.ipython.line_arguments import tensor_named
from tapemagic.ipython.session import Session

MAGIC = "%check_gradient"
# Not argparse: the line contains a Python expression, in which quotes, minus signs and spaces mean something else.
OPTION = re.compile(r"(?<!\S)--(rtol|atol)(?:\s*=\s*|\s+|\Z)(\S*)")
UNKNOWN = re.compile(r"(?<!\S)--\w+")
# Greedy from the left: the last two words are names, everything before them is the expression, spaces included.
WORDS = re.compile(r"\A(.*\S)[\s,]+([^\s,]+)[\s,]+([^\s,]+)\Z")
EXAMPLE = f"as in {MAGIC} my_dy_dx y x"
MAX_LISTED = 10
"""Maximum number of differing entries that are listed."""

# Far above the rounding errors of 1e-16 and 1e-7, so that another order of summation does not count as a mistake.
DOUBLE, SINGLE = (1e-6, 1e-10), (1e-3, 1e-6)
"""Relative and absolute tolerance in double precision, and in lower precision."""

Index = tuple[int, ...]


@dataclass(frozen=True, repr=False)
class CheckReport:
    """The result of ``%check_gradient``.

    - `ok`: True if there is a gradient and all entries agree with it.
    - `headline`: The result in one sentence.
    - `details`: The differing entries, with a likely reason.
    - `differing`: Indices of all differing entries.
    """

    ok: bool
    headline: str
    details: str = ""
    differing: tuple[Index, ...] = ()

    def __repr__(self) -> str:
        return _paragraphs(self.headline, self.details)

    def _repr_html_(self) -> str:
        headline = element("span", GOOD if self.ok else BAD, escape(self.headline))
        return headline + element("div", CODE, escape(self.details))


@dataclass(frozen=True)
class Request:
    """The parsed line of ``%check_gradient``."""

    mine: str
    target: str
    source: str
    rtol: float | None
    atol: float | None


def check_gradient(
    line: str, session: Session | None, shell: InteractiveShell, values: Mapping[str, Any]
) -> CheckReport:
    """Compare a hand-written derivative with the gradient of the last %%tape cell.

    - `line`: The line after ``%check_gradient``: an expression for your derivative, the names of target and source, and
      optionally ``--rtol`` and ``--atol``.
    - `session`: The last %%tape cell.
    - `shell`: The notebook in which your expression is evaluated.
    - `values`: The values of target and source by name.

    Raises UsageError if the line cannot be parsed, or a name in it is not a tensor.
    """
    __tracebackhide__ = True
    if session is None:
        raise UsageError(f"{MAGIC} asks the last %%tape cell, and none has run yet: run one first")
    request = parse(line)
    target = tensor_named(request.target, values, MAGIC)
    source = tensor_named(request.source, values, MAGIC)
    # Neither your derivative nor this gradient belongs to the recording.
    with session.observer.paused():
        mine = _array(request, shell)
        gradient = session.observer.gradient(target, source)
    if gradient is None:
        why = session.explain(request.target, target, request.source, source)
        return CheckReport(False, str(why), "So there is nothing to compare yours with.")
    gradient_values = with_numbers(unwrap(gradient))
    if is_lazy(gradient_values):
        raise UsageError(
            f"{MAGIC} compares numbers, and {derivative_symbol(request.target, request.source, 1)} is not computed: "
            "give the cell a sample in memory, such as X[:1000].compute()"
        )
    return _compare(mine, gradient_values, request, target, source, session)


def parse(line: str) -> Request:
    """Split the line of the magic into its parts.

    Raises UsageError if a part is missing, or an option is unknown or not a number.

    Examples
    --------
    >>> parse("2 * x y x --rtol 1e-3")
    Request(mine='2 * x', target='y', source='x', rtol=0.001, atol=None)
    """
    line = line.rstrip(" ;")
    tolerances = {name: _tolerance(name, text) for name, text in OPTION.findall(line)}
    rest = OPTION.sub(" ", line).strip()
    for unknown in UNKNOWN.findall(rest):
        raise UsageError(f"{MAGIC} has the options --rtol and --atol, and no {unknown}")
    words = WORDS.match(rest)
    if not words or not words[2].isidentifier() or not words[3].isidentifier():
        raise UsageError(
            f"{MAGIC} needs your derivative, a target and a source, {EXAMPLE}: "
            "target and source are names"
        )
    mine = words[1].rstrip(" ,")
    return Request(mine, words[2], words[3], tolerances.get("rtol"), tolerances.get("atol"))


def _tolerance(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    # False for nan too, which a failed conversion becomes above.
    if not 0 <= value < math.inf:
        raise UsageError(
            f"{MAGIC}: --{name} must be a number of at least 0, not {text!r}: write --{name} 1e-6"
        )
    return value


def _array(request: Request, shell: InteractiveShell) -> Any:
    """Evaluate the hand-written derivative in the notebook, as an array of numbers."""
    __tracebackhide__ = True
    expression = request.mine
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        raise UsageError(
            f"{MAGIC}: {expression!r} isn't an expression: "
            f"write your derivative, then a target and a source, {EXAMPLE}"
        ) from None
    try:
        value = shell.ev(expression)
    except NameError as error:
        # A NameError inside a function that the expression calls is an error of that function, and is raised unchanged.
        if error.name not in names.read_names(tree):
            raise
        raise UsageError(
            f"{MAGIC}: there is no variable {error.name!r} in the notebook: "
            f"compute your derivative first, {EXAMPLE}"
        ) from None
    if callable(value):
        function = f"({expression})" if isinstance(tree.body, ast.Lambda) else expression
        raise UsageError(
            f"{MAGIC}: {expression!r} is a function: give its value, as in "
            f"{MAGIC} {function}({request.source}) {request.target} {request.source}"
        )
    try:
        array = private_array(unwrap(value))
    except (TypeError, ValueError):
        raise UsageError(
            f"{MAGIC}: {expression!r} is a {type(value).__name__}, and not an array of numbers"
        ) from None
    if is_lazy(array):
        raise UsageError(f"{MAGIC}: {expression!r} is not computed: write ({expression}).compute()")
    array = np.asarray(array)
    # An integer derivative such as 2 is compared as 2.0.
    return array.astype(float) if array.dtype.kind in "biu" else array


def _compare(
    mine: Any, tape: Any, request: Request, target: Any, source: Any, session: Session
) -> CheckReport:
    """Compare both arrays entry by entry."""
    rtol, atol = _tolerances(request, mine, tape)
    agree = agreement(rtol, atol)
    what = derivative_symbol(request.target, request.source, 1)
    limits = f"(rtol {rtol:g}, atol {atol:g})"
    of_a_sum = (
        f"{request.target} is an array of shape {target.shape}: "
        "the gradient is that of the sum of its entries."
        if target.shape
        else ""
    )
    differing: tuple[Index, ...] = ()
    if mine.shape != tape.shape:
        headline = (
            f"{what}: yours has shape {mine.shape}, "
            f"the gradient has {request.source}'s shape {tape.shape}"
        )
        details = [of_a_sum]
    else:
        # ~agree, so that nan counts as different.
        differing = tuple(map(tuple, np.argwhere(~agree(mine, tape)).tolist()))
        number_of = f" in {len(differing)} of {tape.size} entries" if tape.ndim else ""
        headline = f"{what}: yours differs from the tape's{number_of} {limits}"
        if not differing:
            where = f" in all {tape.size} entries" if tape.ndim else ""
            headline = f"{what}: yours agrees with the tape's{where} {limits}"
            return CheckReport(True, headline, of_a_sum)
        missing_part = missing(session.question(request.target, target, request.source, source))
        if missing_part:
            missing_part = (
                f"The tape's gradient may lack a part, and yours may be right. {missing_part}"
            )
        details = [of_a_sum, _table(mine, tape, differing), missing_part]
    named = [(name, unwrap(value)) for name, value in session.context().named]
    details.append(likely_mistake(session.observer, target, source, mine, tape, agree, named))
    return CheckReport(False, headline, _paragraphs(*details), differing)


def _tolerances(request: Request, mine: Any, tape: Any) -> tuple[float, float]:
    """Return the tolerances of the line, or the default for the less precise of the two arrays."""
    # The less precise array decides: a float32 gradient cannot agree with a float64 derivative to 1e-6.
    kinds = [x.dtype for x in (mine, tape) if x.dtype.kind in "fc"]
    rtol, atol = SINGLE if any(np.finfo(kind).precision < 10 for kind in kinds) else DOUBLE
    return (
        rtol if request.rtol is None else request.rtol,
        atol if request.atol is None else request.atol,
    )


def _table(mine: Any, tape: Any, differing: Sequence[Index]) -> str:
    """Format a table of the first differing entries."""
    rows = [("entry", "yours", "tape's", "difference")]
    for index in differing[:MAX_LISTED]:
        a, b = mine[index], tape[index]
        # inf - inf is nan, and would warn.
        with np.errstate(invalid="ignore"):
            rows.append(
                (str(list(index)), format_number(a), format_number(b), format_number(a - b))
            )
    lines = aligned(rows if tape.ndim else [row[1:] for row in rows])
    if len(differing) > MAX_LISTED:
        lines.append(f"... and {len(differing) - MAX_LISTED} more")
    return "\n".join(lines)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))
