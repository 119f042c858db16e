"""Functions that catch errors stay eager; errors that only a symbol causes are not seen by anybody."""

# The functions are those of users, as they come.
# ruff: noqa: D101, D103

from __future__ import annotations

import contextlib
import re
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import EagerWarning

weight = tm.Variable(1.0)


def refused(x: Any) -> Any:
    """A sum by C code that takes NumPy's own arrays alone."""
    return np.ndarray.sum(x)


def by_no_name(x: Any) -> Any:
    try:
        return np.ndarray.sum(x) * x
    except:  # noqa: E722
        return -x


def as_another(x: Any) -> Any:
    try:
        return refused(x)
    except TypeError as error:
        raise RuntimeError from error


def in_finally(x: Any) -> Any:
    total = -1.0
    try:
        total = refused(x)
    finally:
        return total * x  # noqa: B012


def by_suppress(x: Any) -> Any:
    total = -1.0
    with contextlib.suppress(TypeError):
        total = refused(x)
    return total * x


@contextlib.contextmanager
def ignored() -> Iterator[None]:
    try:  # noqa: SIM105
        yield
    except TypeError:
        pass


def by_a_generator(x: Any) -> Any:
    total = -1.0
    with ignored():
        total = refused(x)
    return total * x


class Ignored:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> bool:
        return True


def by_a_class(x: Any) -> Any:
    total = -1.0
    with Ignored():
        total = refused(x)
    return total * x


def with_a_variable(x: Any) -> Any:
    weight.assign(2.0)
    try:
        total = refused(x)
    except TypeError:
        total = -1.0
    weight.assign_add(total)
    return weight.numpy()


table = {"text": "abc", "list": [1, 2]}


def of_a_shape(x: Any) -> Any:
    try:
        n = len(x)
    except TypeError:
        n = 1
    try:
        a, b = x.shape
    except ValueError:
        a = b = 2
    return x * n * a * b


def of_an_attribute(x: Any) -> Any:
    try:
        x = x.read_value()
    except AttributeError:
        x = x + 1.0
    return x * 2.0


def of_no_symbol(x: Any) -> Any:
    n = 0.0
    for name in ("text", "none"):
        try:
            n += float(table[name])  # type: ignore[arg-type]
        except (ValueError, KeyError):
            n += 2.0
    try:
        table.absent  # type: ignore[attr-defined] # noqa: B018
    except AttributeError:
        n += 1.0
    return x * n


def of_the_user(x: Any) -> Any:
    try:
        if x.sum() > -100.0:
            raise ValueError("large")
    except ValueError:
        x = -x
    return x * 2.0


def of_the_tape(x: Any) -> Any:
    with tm.GradientTape() as tape:
        tape.watch(x := tm.constant(x))
        y = x * x
    found = tape.gradient(y, x)
    try:
        tape.gradient(y, x)
    except RuntimeError:
        found = found * 2.0
    return found.numpy()


FAMILY = (
    by_no_name, as_another, in_finally, by_suppress, by_a_generator, by_a_class, with_a_variable,
    of_a_shape, of_an_attribute, of_no_symbol, of_the_user, of_the_tape,
)  # fmt: skip


@pytest.mark.parametrize("f", FAMILY)
def test_no_way_is_taken_that_only_a_symbol_would_take(f: Callable[[Any], Any]) -> None:
    """The function stays eager, and says on which line it catches errors."""
    for value in (
        (np.arange(3.0), np.float64(2.0), np.array(2.0))
        if "of_" in f.__name__
        else (np.arange(3.0),)
    ):
        g = tm.function(f)
        for k in range(4):
            with pytest.warns(EagerWarning) if k == 0 else contextlib.nullcontext():
                assert np.array_equal(f(value + k), g(value + k))
        assert not g.programs
        assert re.match(
            r"it catches errors.*\(line|it reads .* of the library contextlib.*\(line", g.why_eager
        )


def test_what_cannot_be_called_again_raises() -> None:
    """Nothing goes on in the wrong way in silence."""
    done = []

    @tm.function
    def f(x: Any) -> Any:
        done.append(1)
        return refused(x) * x

    x = np.ones(2)
    with pytest.raises(TypeError, match="ndarray") as raised:
        f(x)
    assert "The next call runs eagerly" in raised.value.__notes__[0]
    with pytest.warns(EagerWarning):
        assert np.array_equal(refused(x) * x, f(x))
    assert len(done) == 2


def test_a_class_that_is_made_of_a_number() -> None:
    """What a library does with the class of a number is done again without symbols."""
    f = tm.function(statistics.mean)
    for k in range(3):
        x = np.arange(4.0) + k
        with pytest.warns(EagerWarning) if k == 0 else contextlib.nullcontext():
            assert statistics.mean(x) == f(x)


def test_methods_that_this_numpy_does_not_have() -> None:
    """A symbol has the methods of arrays, and no others."""

    @tm.function
    def f(x: Any) -> Any:
        return [hasattr(x, name) for name in ("ptp", "newbyteorder", "sum")]

    x = np.ones(2)
    for _ in range(3):
        assert f(x) == [hasattr(x, name) for name in ("ptp", "newbyteorder", "sum")]


def test_an_array_that_may_not_be_written() -> None:
    """The error is NumPy's, and no reason to stay eager for other arrays."""

    @tm.function
    def f(x: Any) -> Any:
        x += 1.0
        return x

    x = np.ones(2)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only") as raised:
        f(x)
    assert not getattr(raised.value, "__notes__", None)
    assert not f.why_eager
