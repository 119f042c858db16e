"""No callable of NumPy loses a gradient silently: each has a class, and keeps to it when it is called."""

from __future__ import annotations

import contextlib
import json
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.laziness import gates
from tapemagic.engine.nest import leaves
from tapemagic.errors import TapeError
from tests.rules import checks, harness
from tools import coverage_table
from tools.coverage_table import GRADIENT, NONE, PLAIN, REFUSED

ENTRIES = {entry.name: entry for entry in coverage_table.entries()}
FUNCTIONS = {name: function for _, name, function in coverage_table.callables()}
OWN = set(FUNCTIONS.values())
CASES = {
    kind: {name: case for name, case in harness.collect(kind).items() if case.function in OWN}
    for kind in harness.KINDS
}

Call = Callable[[Any], Any]

CALLS: dict[str, Call] = {
    "broadcast": lambda t: [a * 1.0 for a, _ in np.broadcast(t, np.ones(3))],
    "bmat": lambda t: np.bmat([[t * np.ones((1, 1)), np.ones((1, 1))]]),
    "diag_indices": lambda t: np.diag_indices(t.astype(int)),
    "dtype": np.dtype,
    "fft.fftfreq": lambda t: np.fft.fftfreq(3, t),
    "fft.rfftfreq": lambda t: np.fft.rfftfreq(3, d=t),
    "fromfunction": lambda t: np.fromfunction(lambda i, j: t * i + j, (2, 3)),
    "fromiter": lambda t: np.fromiter([t, t], float),
    "frompyfunc": np.frompyfunc(operator.neg, 1, 1),
    "full": lambda t: np.full(3, t),
    "issubdtype": lambda t: np.issubdtype(t.dtype, np.floating),
    "kaiser": lambda t: np.kaiser(5, t),
    "matrix": np.matrix,
    "mintypecode": lambda t: np.mintypecode(t.dtype.char),
    "ndenumerate": lambda t: [value * 1.0 for _, value in np.ndenumerate(t)],
    "nditer": lambda t: [value * 1.0 for value in np.nditer(t)],
    "poly1d": lambda t: np.poly1d(t * np.ones(2))(3.0),
    "promote_types": lambda t: np.promote_types(t.dtype, np.float32),
    "row_stack": lambda t: FUNCTIONS["row_stack"]([t, t]),
    "trapz": lambda t: FUNCTIONS["trapz"](t * np.ones(3)),
    "tril_indices": lambda t: np.tril_indices(t.astype(int)),
    "triu_indices": lambda t: np.triu_indices(t.astype(int)),
    "vectorize": np.vectorize(lambda v: v * 2.0),
}
"""How to call what is not in the tables of cases, where it does not simply take a number."""

UNCALLED = frozenset(
    {"info", "show_config", "show_runtime", "test", "linalg.test", "fft.test", "load", "fromfile"}
)
"""What prints, runs NumPy's own tests or opens files."""

CONSTANT_PARTS = {
    np.atleast_2d: "each array has its own result",
    np.average: "the sum of weights that nobody gave",
    np.histogram: "edges that are given, and counts without weights",
    np.histogram2d: "the same",
    np.histogramdd: "the same",
    np.linalg.lstsq: "no residuals, if the rank is low",
    np.polydiv: "no quotient, if the divisor is longer",
}
"""Functions with several results, of which some may not depend on a tensor that others do depend on."""

# What autograd 1.9 and MyGrad 2.5 differentiate, by NumPy's names.
AUTOGRAD = """
abs absolute acos acosh add amax amin angle append arccos arccosh arcsin arcsinh arctan arctan2 arctanh array
array_split asin asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d broadcast_to clip column_stack
concatenate conj conjugate cos cosh cross cumsum deg2rad degrees diag diagonal diff divide dot dsplit einsum exp
exp2 expand_dims expm1 fabs fliplr flipud fmax fmin full gradient hsplit hstack hypot imag inner kron linspace
log log10 log1p log2 logaddexp logaddexp2 matmul max maximum mean min minimum mod moveaxis multiply nan_to_num
negative outer pad partition permute_dims pow power prod rad2deg radians ravel real real_if_close reciprocal
remainder repeat reshape roll rollaxis rot90 select sin sinc sinh sort split sqrt square squeeze stack std
subtract sum swapaxes tan tanh tensordot tile trace transpose tril triu true_divide var vsplit vstack where
linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.inv linalg.norm linalg.pinv linalg.slogdet linalg.solve
linalg.svd fft.fft fft.fft2 fft.fftn fft.fftshift fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.irfft fft.irfft2
fft.irfftn fft.rfft fft.rfft2 fft.rfftn
"""
MYGRAD = """
abs absolute add amax amin arccos arccosh arcsin arcsinh arctan arctan2 arctanh atleast_1d atleast_2d atleast_3d
broadcast_to cbrt clip concatenate cos cosh cumprod cumsum divide einsum exp exp2 expand_dims expm1 linalg.multi_dot
linalg.norm log log10 log1p log2 logaddexp logaddexp2 matmul max maximum mean min minimum moveaxis multiply negative
positive power prod ravel reciprocal repeat reshape roll sin sinc sinh sqrt square squeeze stack std subtract sum
swapaxes tan tanh transpose true_divide var where
"""
UNASKED = frozenset({"array", "full"})
"""Those of them which NumPy computes without asking; with ``like=t`` they are differentiable here too."""


def named(*kinds: str) -> list[str]:
    """The names of the callables of some classes."""
    return [name for name, entry in ENTRIES.items() if entry.kind in kinds]


def with_cases(kind: str) -> set[Any]:
    """The functions that have cases of a kind, which tests of their own run."""
    return {entry.function for entry in CASES[kind].values()}


def silent(tape: tm.GradientTape, result: Any) -> list[Any]:
    """The real or complex parts of a result that a tape cannot follow."""
    found = []
    for leaf in leaves(result):
        value = np.asarray(getattr(leaf, "_value", leaf))
        tracked = isinstance(leaf, tm.Tensor) and leaf._id in tape._tracked
        if value.dtype.kind in "fc" and value.size and not tracked:
            found.append(leaf)
    return found


def called(call: Call) -> tuple[tm.GradientTape, Any, bool]:
    """What a call on a watched number gives, and whether the tape has heard it leave."""
    x = tm.constant(2.0)
    with tm.GradientTape(persistent=True) as tape, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        tape.watch(x)
        result = call(x)
    return tape, result, any(event.kind == "exit" for event in tape._events)


def test_silence_is_heard() -> None:
    """The checks below could fail: they see arrays, numbers and constant tensors, alone and among others."""
    _, result, left = called(lambda t: [t * t, 1, np.array([True]), np.ones(0), "text"])
    tape, lost, _ = called(lambda t: [t._value, t * t, (np.ones(2), tm.constant(1.0), 2.0)])

    assert not left
    assert [] == silent(tape, result[1:])
    assert [lost[0], *lost[2]] == silent(tape, lost)


def test_every_callable_has_a_class() -> None:
    """Somebody has decided what becomes of a gradient in each callable of the installed NumPy."""
    assert [] == [name for name in FUNCTIONS if name not in ENTRIES]


def test_every_name_is_explained_once() -> None:
    """No callable is in two classes."""
    reasons = coverage_table.REASONS.values()
    names = [name for group in reasons for listed in group.values() for name in listed.split()]

    assert sorted(set(names)) == sorted(names)


def test_document_is_current() -> None:
    """docs/coverage.md is what the tool writes; for another NumPy it would write another one."""
    if coverage_table.documented_version() != coverage_table.version():
        pytest.skip(f"written for NumPy {coverage_table.documented_version()}")

    assert coverage_table.document() == coverage_table.DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("library", [AUTOGRAD, MYGRAD], ids=["autograd", "mygrad"])
def test_nothing_is_missing_beside_other_libraries(library: str) -> None:
    """What autograd and MyGrad differentiate, tapemagic does."""
    assert set() == set(library.split()) - set(named(GRADIENT)) - UNASKED


def test_differentiable_ones_are_called() -> None:
    """Each differentiable function has a case, which checks its derivatives, or a call below."""
    cases = with_cases("CASES")
    missing = {name for name in named(GRADIENT) if FUNCTIONS[name] not in cases}

    assert missing <= set(CALLS)


@pytest.mark.parametrize("name", sorted(set(named(GRADIENT)) & set(CALLS)))
def test_a_call_keeps_the_path(name: str) -> None:
    """What a differentiable callable computes is on the tape."""
    tape, result, _ = called(CALLS[name])

    assert [] == silent(tape, result)
    assert tape._records


def test_no_case_loses_the_path() -> None:
    """All real and complex results of differentiable functions are on the tape."""
    lost = []
    for name, case in CASES["CASES"].items():
        with checks.silence():
            tape, _, result = checks.run(case)
        if silent(tape, result) and case.function not in CONSTANT_PARTS:
            lost.append(name)

    assert [] == lost


def alone(case: Any, position: int) -> tuple[Any, bool]:
    """The gradient in one of a case's inputs where the others are bare arrays, and whether the tape heard it leave."""
    inputs = list(case.inputs)
    inputs[position] = x = tm.constant(inputs[position])
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        try:
            result = case.call(*inputs)
        except TapeError:
            return None, True
    return gradient(tape, result, x), any(event.kind == "exit" for event in tape._events)


def gradient(tape: tm.GradientTape, result: Any, x: tm.Tensor) -> Any:
    """The gradient of all parts of a result that can have one."""
    parts = [y for y in leaves(result) if isinstance(y, tm.Tensor) and y.dtype.kind in "fc"]
    return tape.gradient(parts, x) if parts else None


def test_no_tensor_is_lost_among_arrays() -> None:
    """In each position in which a tensor has a gradient it has one, or is heard leaving, among bare arrays too."""
    lost = []
    for name, case in CASES["CASES"].items():
        if len(case.inputs) > 1:
            with checks.silence():
                tape, tensors, result = checks.run(case)
                for position, x in enumerate(tensors):
                    found, left = alone(case, position)
                    if found is None and not left and gradient(tape, result, x) is not None:
                        lost.append(f"{name}, input {position}")

    assert [] == lost


@pytest.mark.parametrize("name", named(PLAIN))
def test_a_plain_result_is_known_to_be_one(name: str) -> None:
    """Where a plain result is made of real numbers, the tape has heard a tensor leave."""
    function = FUNCTIONS[name]
    if function in with_cases("PLAIN"):
        return
    tape, result, left = called(CALLS.get(name, function))

    assert left or not silent(tape, result)


@pytest.mark.parametrize("name", named(REFUSED))
def test_a_refusal_names_the_function(name: str) -> None:
    """What is refused says so, and what it is."""
    function = FUNCTIONS[name]
    if function in with_cases("REFUSED"):
        for refused in CASES["REFUSED"].values():
            if refused.function is function:
                with pytest.raises(TapeError, match=name):
                    checks.run(refused)
    else:
        with pytest.raises(TapeError, match=r"np.frompyfunc\(neg, ...\)"):
            called(CALLS[name])


@pytest.mark.parametrize("name", sorted(set(named(NONE)) - UNCALLED))
def test_others_do_nothing_with_tensors(name: str) -> None:
    """What takes no tensors raises, or gives nothing that is made of real numbers."""
    function = FUNCTIONS[name]
    for call in (function, lambda t: function(t, t), lambda t: function([t, t])):
        lost: list[Any] = []
        with contextlib.suppress(Exception), np.printoptions(), np.errstate():
            tape, result, left = called(call)
            lost = [] if left else silent(tape, result)
        assert [] == lost


def test_dask_table() -> None:
    """Some functions of few cases have the class on Dask arrays that is stored."""
    from tools import dask_table

    stored = json.loads(coverage_table.STORED.read_text(encoding="utf-8"))
    cases = dask_table.cases()
    few = [name for name in stored if name in FUNCTIONS and len(cases[FUNCTIONS[name]]) < 4]
    try:
        for name in few[:: max(1, len(few) // 12)]:
            assert dask_table.classify(cases[FUNCTIONS[name]]) == stored[name], name
    finally:
        gates.clear()
