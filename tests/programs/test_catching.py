"""Functions that catch errors stay eager; errors that only a symbol causes are not seen by anybody."""

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


def by_its_class(x: Any) -> Any:
    """Catches the error."""
    try:
        return refused(x) * x
    except TypeError:
        return -x


def by_no_name(x: Any) -> Any:
    """Catches all errors."""
    try:
        return np.ndarray.sum(x) * x
    except:  # noqa: E722
        return -x


def as_another(x: Any) -> Any:
    """Raises another error."""
    try:
        return refused(x)
    except TypeError as error:
        raise RuntimeError from error


def in_finally(x: Any) -> Any:
    """Loses the error."""
    total = -1.0
    try:
        total = refused(x)
    finally:
        return total * x  # noqa: B012


def by_suppress(x: Any) -> Any:
    """Catches by the standard library."""
    total = -1.0
    with contextlib.suppress(TypeError):
        total = refused(x)
    return total * x


@contextlib.contextmanager
def ignored() -> Iterator[None]:
    """Catches in a generator."""
    try:  # noqa: SIM105
        yield
    except TypeError:
        pass


class Ignored:
    """Catches by its end."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> bool:
        return True


def by_a_generator(x: Any) -> Any:
    """Catches by a function of the user's."""
    total = -1.0
    with ignored():
        total = refused(x)
    return total * x


def by_a_class(x: Any) -> Any:
    """Catches by a class of the user's."""
    total = -1.0
    with Ignored():
        total = refused(x)
    return total * x


def with_a_variable(x: Any) -> Any:
    """Assigns before and after."""
    weight.assign(2.0)
    try:
        total = refused(x)
    except TypeError:
        total = -1.0
    weight.assign_add(total)
    return weight.numpy()


CATCHING = (
    by_its_class,
    by_no_name,
    as_another,
    in_finally,
    by_suppress,
    by_a_generator,
    by_a_class,
    with_a_variable,
)


@pytest.mark.parametrize("f", CATCHING)
def test_the_way_that_only_a_symbol_takes_is_not_taken(f: Callable[[Any], Any]) -> None:
    """The function stays eager, and says on which line it catches errors."""
    g = tm.function(f)
    for k in range(4):
        x = np.arange(3.0) + k
        with pytest.warns(EagerWarning) if k == 0 else contextlib.nullcontext():
            found = g(x)
        assert np.array_equal(f(x), found)
    assert not g.programs
    assert re.search(r"it catches errors|of the library contextlib", g.why_eager)
    assert "(line" in g.why_eager


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


table = {"text": "abc", "list": [1, 2]}


def of_a_shape(x: Any) -> Any:
    """A length that a number does not have, and parts that are not there."""
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
    """An attribute that no array has."""
    try:
        x = x.read_value()
    except AttributeError:
        x = x + 1.0
    return x * 2.0


def of_no_symbol(x: Any) -> Any:
    """Errors of texts, lists and dicts."""
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
    """An error that the function raises itself."""
    try:
        if x.sum() > -100.0:
            raise ValueError("large")
    except ValueError:
        x = -x
    return x * 2.0


def of_the_tape(x: Any) -> Any:
    """An error of this package."""
    with tm.GradientTape() as tape:
        tape.watch(x := tm.constant(x))
        y = x * x
    found = tape.gradient(y, x)
    try:
        tape.gradient(y, x)
    except RuntimeError:
        found = found * 2.0
    return found.numpy()


@pytest.mark.parametrize("f", [of_a_shape, of_an_attribute, of_no_symbol, of_the_user, of_the_tape])
@pytest.mark.parametrize("value", [np.arange(3.0), np.float64(2.0), np.array(2.0)])
def test_errors_that_are_the_functions_own(f: Callable[[Any], Any], value: Any) -> None:
    """They are caught at each call, as without tracing."""
    g = tm.function(f)
    for k in range(4):
        with pytest.warns(EagerWarning) if k == 0 else contextlib.nullcontext():
            assert np.array_equal(f(value + k), g(value + k))
    assert g.why_eager.startswith("it catches errors")


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
