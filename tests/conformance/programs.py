"""Small programs over a namespace `tf`, run by TensorFlow once and by tapemagic in every test.

A program is a test's body. `agrees`, `refused` and `differs` make the test of it: they remember
the program for make_expected.py, which stores what TensorFlow gives, and compare what tapemagic
gives with what was stored.
"""

from __future__ import annotations

import enum
import functools
import inspect
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import tapemagic as tm

Program = Callable[[Any], Any]
Test = Callable[[], None]

SECTIONS = (
    "differences", "signatures", "lifecycle", "watching", "gradient", "targets", "output_gradients",
    "recording", "nesting", "variable", "tensor", "dtypes", "jacobian", "custom", "functional",
)  # fmt: skip
"""The modules of this folder that hold programs: ``test_<section>.py``."""

STORED = Path(__file__).with_name("tf_expected.json")
PROGRAMS: dict[str, Program] = {}

TAPEMAGIC = SimpleNamespace(
    GradientTape=tm.GradientTape,
    UnconnectedGradients=tm.UnconnectedGradients,
    Variable=tm.Variable,
    constant=tm.constant,
    custom_gradient=tm.custom_gradient,
    grad_pass_through=tm.grad_pass_through,
    gradients_function=tm.gradients_function,
    implicit_grad=tm.implicit_grad,
    implicit_val_and_grad=tm.implicit_val_and_grad,
    literal=tm.constant,
    logger=logging.getLogger("tapemagic"),
    make_vjp=tm.make_vjp,
    recompute_grad=tm.recompute_grad,
    stop_gradient=tm.stop_gradient,
    val_and_grad_function=tm.val_and_grad_function,
    value_and_gradients_function=tm.value_and_gradients_function,
    abs=np.abs,
    argmax=np.argmax,
    cast=np.astype,
    clip_by_value=np.clip,
    exp=np.exp,
    floor=np.floor,
    gather=lambda x, index: x[index],
    greater=np.greater,
    where=np.where,
    sqrt=np.sqrt,
    math=SimpleNamespace(
        ceil=np.ceil,
        conj=np.conj,
        cumprod=np.cumprod,
        imag=np.imag,
        log=np.log,
        real=np.real,
        reduce_std=np.std,
    ),
    matmul=np.matmul,
    maximum=np.maximum,
    minimum=np.minimum,
    nn=SimpleNamespace(relu=lambda x: np.maximum(x, 0.0)),
    reduce_max=np.max,
    reduce_mean=np.mean,
    reduce_sum=np.sum,
    reshape=np.reshape,
    round=np.round,
    sign=np.sign,
    sin=np.sin,
    split=np.split,
    square=np.square,
    zeros_like=np.zeros_like,
)
"""tapemagic under the names that the programs use."""


def agrees(program: Program) -> Test:
    """The test that tapemagic gives what TensorFlow gave."""
    name = _remember(program)

    def test() -> None:
        expected = stored(name)
        actual = encode(program(TAPEMAGIC))

        assert expected == actual

    return _named(test, program)


def refused(
    error: type[Exception], *words: str, tensorflow: Any = None
) -> Callable[[Program], Test]:
    """The test that tapemagic raises `error`, with a message that holds every one of `words`.

    It has to be an instance of the built-in exception that TensorFlow raised, unless `tensorflow`
    says what TensorFlow does instead.
    """

    def make(program: Program) -> Test:
        name = _remember(program)

        def test() -> None:
            expected = stored(name)
            actual = raised_by(lambda: program(TAPEMAGIC))

            assert isinstance(actual, error)
            assert [] == [word for word in words if word not in str(actual)], str(actual)
            if tensorflow is None:
                assert expected["raises"] in [kind.__name__ for kind in type(actual).__mro__]
            else:
                assert expected == tensorflow

        return _named(test, program)

    return make


def differs(*, tensorflow: Any, tapemagic: Any) -> Callable[[Program], Test]:
    """The test of a difference on purpose: what TensorFlow gave, and what tapemagic gives."""

    def make(program: Program) -> Test:
        name = _remember(program)

        def test() -> None:
            actual = encode(program(TAPEMAGIC))

            assert stored(name) == tensorflow
            assert actual == tapemagic

        return _named(test, program)

    return make


def _remember(program: Program) -> str:
    name = f"{program.__module__.rpartition('test_')[2]}.{program.__name__.removeprefix('test_')}"
    assert name not in PROGRAMS
    PROGRAMS[name] = program
    return name


def _named(test: Test, program: Program) -> Test:
    test.__name__, test.__doc__, test.__module__ = (
        program.__name__,
        program.__doc__,
        program.__module__,
    )
    return test


def stored(name: str) -> Any:
    """What TensorFlow gave for a program."""
    return _read()["values"][name]


@functools.cache
def _read() -> Any:
    return json.loads(STORED.read_text())


def raised_by(call: Callable[[], Any]) -> Exception:
    """The exception that a call raises."""
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 (whatever it is, the test looks at it)
        return error
    raise AssertionError(f"nothing was raised; the result is {result!r}")


def raises(kind: str) -> dict[str, str]:
    """How an exception of the class named `kind` is stored."""
    return {"raises": kind}


def outcome(program: Program, tf: Any) -> Any:
    """What a program gives, or the name of the exception that it raises, as it is stored."""
    try:
        return encode(program(tf))
    except Exception as error:  # noqa: BLE001 (whatever it is, its name is stored)
        return raises(type(error).__name__)


def encode(value: Any) -> Any:
    """A result as JSON holds it: tensors are tagged with their dtype where that is not float64."""
    if hasattr(value, "numpy"):
        numbers = encode(np.asarray(value.numpy()).tolist())
        kind = np.asarray(value.numpy()).dtype.name
        return numbers if kind == "float64" else {kind: numbers}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"numpy": encode(value.tolist())}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, complex):
        return {"real": encode(value.real), "imag": encode(value.imag)}
    if isinstance(value, float):
        return float(f"{value:.10g}") if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {type(value).__name__: [[key, encode(part)] for key, part in value.items()]}
    if isinstance(value, tuple):
        return {type(value).__name__: [encode(part) for part in value]}
    if isinstance(value, list):
        return [encode(part) for part in value]
    return value


def recorded(
    tf: Any, function: Callable[..., Any], *sources: Any, **options: bool
) -> tuple[Any, ...]:
    """A tape that has recorded a function of watched sources, the sources, and the value."""
    with tf.GradientTape(**options) as tape:
        for source in sources:
            tape.watch(source)
        y = function(*sources)
    return tape, *sources, y


def signature(function: Callable[..., Any]) -> list[str]:
    """The parameters of a function with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name if p.default is p.empty else f"{p.name}={encode(p.default)}" for p in parameters]


@contextmanager
def logged(tf: Any) -> Iterator[list[str]]:
    """The warnings that are logged in the block."""
    messages: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    tf.logger.addHandler(handler)
    try:
        yield messages
    finally:
        tf.logger.removeHandler(handler)
