"""Every row of the rule table, traced: its program gives for other numbers what the tape gives, to the bit.

The quick tests look at what was written down alone; the thorough ones at `tm.function`, with all passes, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import GradientTape, constant
from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.tensor import Traced
from tests.programs.interpreting import Once, OtherWay, plain, same_bits
from tests.rules.checks import silence
from tests.rules.test_rules import Entries, each, over
from tests.shares import ALL, share

BY_NUMBERS = (
    "np.unique", "np.nonzero", "np.flatnonzero", "np.where", "np.compress", "np.extract", "x[mask]",
    "np.histogram_bin_edges", "np.asarray", "int()", "x[i] = ...", "histogramdd()", "np.intersect1d",
    "warnings.catch_warnings()", "a warning of np.cov", "a Jacobian through indices that are computed or given",
    "float()", "x[a:b]", "np.choose()", "np.piecewise()", "call()",
)  # fmt: skip
"""By what values leave the traces of some cases: most of them have shapes that depend on numbers."""

Function = Callable[..., Any]


def gradients(call: Function, order: int) -> Function:
    """A function that gives a call's results, their gradients, and those of the gradients."""

    def run(*xs: Any) -> Any:
        sources = [x for x in xs if x.dtype.kind in "fc"]
        with GradientTape() as outer:
            outer.watch(sources)
            with GradientTape() as tape:
                tape.watch(sources)
                y = call(*xs)
            targets = tensors(y)
            first = tape.gradient(targets, sources) if targets else []
        reached = tensors(first)
        if order == 1 or not reached:
            return y, first
        return y, first, outer.gradient(reached, sources)

    return run


def jacobians(call: Function) -> Function:
    """A function that gives the Jacobians of a call's first result."""

    def run(*xs: Any) -> Any:
        sources = [x for x in xs if x.dtype.kind in "fc"]
        with GradientTape() as tape:
            tape.watch(sources)
            y = leaves(call(*xs))[0]
        return tape.jacobian(y, sources) if isinstance(y, Traced) else y

    return run


def tensors(x: Any) -> list[Any]:
    """The tensors in a structure."""
    return [leaf for leaf in leaves(x) if isinstance(leaf, Traced)]


def other(x: Any) -> Any:
    """A tensor of numbers like these."""
    x = np.asarray(x)
    with np.errstate(invalid="ignore"):
        return constant((x * 0.97).astype(x.dtype)[()] if x.dtype.kind in "fc" else x[()])


def check(run: Function, inputs: tuple[Any, ...]) -> None:
    """Compare a trace and its program, if there is one, with the tape."""
    with silence():
        same, others = list(map(constant, inputs)), list(map(other, inputs))
        once = Once(run, *same)
        expected = [plain(y) for y in leaves(run(*same))]
        assert all(map(same_bits, expected, once.found))
        if once.reasons:
            assert once.reasons[0].partition(": ")[0] in BY_NUMBERS, once.reasons
            return
        assert all(map(same_bits, expected, once.run(*same)))
        expected = [plain(y) for y in leaves(run(*others))]
        try:
            found = once.run(*others)
        except OtherWay:
            return
        assert all(map(same_bits, expected, found))


def replay(run: Function, inputs: tuple[Any, ...]) -> None:
    """Compare the calls of a function under tm.function with the tape: values, errors, and what is warned of."""
    traced = tm.function(lambda *xs: run(*xs))  # noqa: PLW0108 (it reads the line)
    data = [list(map(constant, inputs)), list(map(other, inputs))]
    eager = [outcome(run, given) for given in data]
    for k in (0, 0, 1, 0, 1):
        expected, said = eager[k]
        found, heard = outcome(traced, data[k])
        assert len(expected) == len(found)
        assert all(map(same_bits, expected, found))
        assert heard <= said


def outcome(run: Function, data: list[Any]) -> tuple[list[Any], set[str]]:
    """The results of a call, or its error, and the warnings, but for that of running without a program."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = [plain(y) for y in leaves(run(*data))]
        except (TypeError, ValueError) as error:
            found = [type(error), str(error)]
    return found, {str(x.message) for x in caught if x.category is not tm.errors.EagerWarning}


@over("CASES")
def test_gradients(entries: Entries) -> None:
    """Values and gradients of one case of each function."""
    name = min(entries)
    each({name: entries[name]}, lambda case: check(gradients(case.call, 1), case.inputs))


@pytest.mark.thorough
@over("CASES")
def test_all_orders(entries: Entries) -> None:
    """Values, gradients, those of gradients, and Jacobians of a share of the cases."""
    entries = share(entries, 1)
    each(entries, lambda case: check(gradients(case.call, 2), case.inputs))
    each(entries, lambda case: check(jacobians(case.call), case.inputs))


@pytest.mark.thorough
@over("SPECIAL")
def test_special(entries: Entries) -> None:
    """Values and gradients at special points."""
    each(entries, lambda case: check(gradients(case.call, 1), case.inputs))
    each(share(entries), lambda case: replay(gradients(case.call, 1), case.inputs))


ASKED: tuple[Callable[[Any], Function], ...] = (
    lambda case: gradients(case.call, 1),
    lambda case: gradients(case.call, 2),
    lambda case: jacobians(case.call),
)
"""What is asked of a case: values and gradients, also those of gradients, and Jacobians."""


def in_turn(entries: Entries) -> Sequence[tuple[Entries, Callable[[Any], Function]]]:
    """One question for each case of a share, and each question for some case of the function; or all for all."""
    count = len(ASKED)
    if ALL:
        return [(entries, asked) for asked in ASKED]
    names = [*share(entries, 2)]
    names += [names[k % len(names)] for k in range(len(names), count)]
    return [
        ({name: entries[name] for name in names[k::count]}, asked) for k, asked in enumerate(ASKED)
    ]


@pytest.mark.thorough
@over("CASES")
def test_programs(entries: Entries) -> None:
    """Values, gradients, those of gradients, and Jacobians, by programs after all passes."""
    for some, asked in in_turn(entries):
        each(some, lambda case, asked=asked: replay(asked(case), case.inputs))
