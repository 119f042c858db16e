"""Bad input: a precise error of `tapemagic.errors`, and the tape as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.recording import live
from tapemagic.errors import TapeError
from tests import bad_array_cases, bad_input_cases
from tests.bad_input_cases import CLOSED, LIVE, NOT_PERSISTENT, USED_UP, Case, Table
from tests.conformance.programs import raised_by

EVERYWHERE: Table = {**bad_input_cases.CASES, **bad_array_cases.CASES}
IN_BLOCKS: Table = {"writing": bad_array_cases.WRITING}

ELSEWHERE = {
    "Function",
    "UnconnectedGradients",
    "distributed",
    "errors",
    "load_ipython_extension",
    "nn",
    "register_vjp",
    "tf",
    "unload_ipython_extension",
    *(name for name in tm.__all__ if "conv" in name or "pool" in name),
}
"""Public names that take no input of the user's, or have tests of bad input of their own."""


class User:
    """What somebody has at hand when a call goes wrong: variables, constants, an array, and a tape."""

    def __init__(self, persistent: bool = False) -> None:
        self.w = tm.Variable([1.0, 2.0, 3.0], name="w")
        self.s = tm.Variable(2.0, name="s")
        self.m = tm.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="m")
        self.c = tm.constant([0.5, 1.0, 2.0])
        self.n = tm.constant([0, 1, 2])
        self.a = np.array([1.0, 2.0, 3.0])
        self.tape = tm.GradientTape(persistent)

    def compute(self) -> None:
        """Compute something, in the tape's block."""
        self.tape.watch(self.c)
        self.y = self.w * self.w * self.c * self.s
        self.b = self.m * self.m

    def gradients(self, target: Any) -> list[Any]:
        """What the tape says."""
        return [g.tolist() for g in self.tape.gradient(target, [self.w, self.c, self.s])]

    def holds(self) -> list[Any]:
        """All values that a call must not change."""
        own = [self.w, self.s, self.m, self.c, self.n]
        return [*([x.numpy().tolist(), x.dtype] for x in own), self.a.tolist(), self.a.dtype]


GRADIENTS = [[2.0, 8.0, 24.0], [2.0, 8.0, 18.0], 22.5]
THREEFOLD = [[6.0, 24.0, 72.0], [6.0, 24.0, 54.0], 67.5]


def rows(*tables: Table) -> Any:
    """The cases of several tables, one test for each public name."""
    named: dict[str, list[tuple[str, Case]]] = {}
    for table in tables:
        for name, cases in table.items():
            named.setdefault(name, []).extend(cases.items())
    return pytest.mark.parametrize("cases", named.values(), ids=named.keys())


def each(cases: list[tuple[str, Case]], check: Callable[[Case], None]) -> None:
    """Check every case; a failure says which one it was."""
    for what, case in cases:
        try:
            check(case)
        except BaseException as error:
            error.add_note(f"in the case {what}")
            raise


def refuse(user: User, case: Case) -> None:
    """Make the call, and check what it raises, and that it changes nothing of the user's."""
    call, expected, words = case
    held, tapes = user.holds(), live()

    error = raised_by(lambda: call(user))

    assert type(error) is expected
    assert words in " ".join(str(error).split())
    assert held == user.holds()
    assert tapes == live()


def goes_on_after_its_block(user: User, case: Case) -> None:
    """A tape that was asked wrongly gives the gradients that it would have given."""
    with user.tape:
        user.compute()
    records = len(user.tape.records)

    refuse(user, case)

    assert records == len(user.tape.records)
    assert user.gradients(user.y) == GRADIENTS


def goes_on_inside_its_block(user: User, case: Case) -> None:
    """A tape that is recording goes on recording."""
    with user.tape:
        user.compute()
        refuse(user, case)
        z = user.y * 3.0

    assert live() == ()
    assert user.gradients(z) == THREEFOLD


@rows(EVERYWHERE, CLOSED, NOT_PERSISTENT)
def test_after_the_block(cases: Any) -> None:
    """A tape that is not persistent still has its one set of gradients to give."""

    def check(case: Case) -> None:
        user = User()

        goes_on_after_its_block(user, case)

        assert isinstance(raised_by(lambda: user.gradients(user.y)), tm.errors.ConsumedTapeError)

    each(cases, check)


@rows(EVERYWHERE, CLOSED)
def test_after_the_block_of_a_persistent_tape(cases: Any) -> None:
    """A persistent tape gives the same numbers as before."""

    def check(case: Case) -> None:
        user = User(persistent=True)

        goes_on_after_its_block(user, case)

        assert user.gradients(user.y) == GRADIENTS

    each(cases, check)


@rows(EVERYWHERE, IN_BLOCKS, LIVE, NOT_PERSISTENT)
def test_inside_the_block(cases: Any) -> None:
    """A tape that is recording goes on."""
    each(cases, lambda case: goes_on_inside_its_block(User(), case))


@rows(EVERYWHERE, IN_BLOCKS, LIVE)
def test_inside_the_block_of_a_persistent_tape(cases: Any) -> None:
    """The same for a persistent tape, which may be asked for gradients while it records."""
    each(cases, lambda case: goes_on_inside_its_block(User(persistent=True), case))


@pytest.mark.parametrize("case", USED_UP.values(), ids=USED_UP.keys())
def test_used_up(case: Case) -> None:
    """A tape that is used up says so, and can be entered again for something new."""
    user = User()
    with user.tape:
        user.compute()
    user.gradients(user.y)

    refuse(user, case)

    with user.tape:
        user.compute()
    assert user.gradients(user.y) == GRADIENTS


@pytest.mark.parametrize(
    ("target", "source", "words"),
    [
        (None, "w", "the target is None"),
        ("a", "w", "is a numpy.ndarray, not a tensor"),
        ("y", None, "is a NoneType, so the tape can't track"),
        ("y", "a", "is a numpy.ndarray, so the tape can't"),
    ],
)
def test_explain(target: Any, source: Any, words: str) -> None:
    """The method `explain` refuses nothing: it explains."""
    user = User()
    with user.tape:
        user.compute()

    answer = user.tape.explain(getattr(user, target or "", None), getattr(user, source or "", None))

    assert words in str(answer)
    assert user.gradients(user.y) == GRADIENTS


def test_watch_all_or_nothing() -> None:
    """Where one of several cannot be watched, none of them is."""
    x, other = tm.constant(2.0), tm.constant(3.0)
    with tm.GradientTape() as tape:
        tape.watch(other)
        raised_by(lambda: tape.watch([x, "x"]))
        y = x * x * other

    assert tape.gradient(y, [x, other]) == [None, 4.0]


def test_every_public_name() -> None:
    """Nothing of what the package offers is without a case."""
    tables = (EVERYWHERE, CLOSED, LIVE, NOT_PERSISTENT)
    covered = {name for table in tables for name in table}
    methods = {f"GradientTape.{name}" for name in dir(tm.GradientTape) if not name.startswith("_")}

    assert set(tm.__all__) - ELSEWHERE == {name.partition(".")[0] for name in covered} - {"numpy"}
    assert methods - covered == {
        "GradientTape.explain",
        "GradientTape.report",
        "GradientTape.records",
        "GradientTape.watched_variables",
    }


def test_every_error_has_a_root() -> None:
    """Whatever is refused on purpose is a `TapeError`; the others are Python's and NumPy's own."""
    raised = {case[1] for table in EVERYWHERE.values() for case in table.values()}
    others = {error for error in raised if not issubclass(error, TapeError)}

    assert others == {TypeError, ValueError, IndexError, np.exceptions.AxisError}
