"""The cases of the rule table with Dask arrays as inputs, and what comes of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
import dask.array as da
import numpy as np

from tapemagic import GradientTape, Tensor, constant
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves
from tapemagic.errors import NotComputedError, UnsupportedArgumentError

REFUSALS = (NotComputedError, UnsupportedArgumentError)


def halves(n: int) -> tuple[int, ...]:
    """An axis in two pieces of different lengths."""
    return (n - n // 3, n // 3) if n > 2 else (1,) * n or (0,)


def rows(shape: tuple[int, ...]) -> Any:
    """Cut along the first axis."""
    return tuple(halves(n) if not k else (n,) for k, n in enumerate(shape))


def columns(shape: tuple[int, ...]) -> Any:
    """Cut along the last axis."""
    return tuple(halves(n) if k == len(shape) - 1 else (n,) for k, n in enumerate(shape))


def everywhere(shape: tuple[int, ...]) -> Any:
    """Cut along all axes."""
    return tuple(map(halves, shape))


def whole(shape: tuple[int, ...]) -> Any:
    """One chunk."""
    return tuple((n,) for n in shape)


CUTS = {"rows": rows, "columns": columns, "everywhere": everywhere, "whole": whole}


class ComputedError(BaseException):
    """Something was computed that must not be: no ``except Exception`` hides it."""


def raising(*_args: Any, **_kwargs: Any) -> Any:
    """A scheduler that never computes."""
    raise ComputedError


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def inputs(entry: Any, dtype: Callable[[Any], Any]) -> list[Any]:
    """The inputs of an entry in another precision."""
    return [dtype(np.asarray(x))[()] if hasattr(x, "dtype") else x for x in entry.inputs]


def lazy(given: list[Any], cut: Any, first: bool = False) -> list[Any]:
    """Arrays as Dask's arrays, or the first one alone; plain numbers only where there is no array."""
    arrays = any(np.ndim(x) for x in given)
    made: list[Any] = []
    done = False
    for x in given:
        if done or not hasattr(x, "dtype") or (arrays and not np.ndim(x)):
            made.append(x)
            continue
        made.append(da.from_array(np.asarray(x), chunks=cut(np.shape(x))))
        done = first
    return made


def value(call: Any, given: list[Any]) -> list[Any]:
    """The values of a call."""
    return leaves(call(*map(constant, given)))


def gradient(call: Any, given: list[Any]) -> list[Any]:
    """The values of a call, and the gradients of their sum."""
    tensors = list(map(constant, given))
    watched = [x for x in tensors if x.dtype.kind in "fc"]
    with GradientTape() as tape:
        tape.watch(watched)
        y = call(*tensors)
    targets = [x for x in leaves(y) if isinstance(x, Tensor)]
    return [*leaves(y), *tape.gradient(targets, watched)]


def second(call: Any, given: list[Any]) -> list[Any]:
    """The gradients of the sum of the gradients of a call."""
    tensors = list(map(constant, given))
    watched = [x for x in tensors if x.dtype.kind in "fc"]
    with GradientTape() as outer:
        outer.watch(watched)
        with GradientTape() as tape:
            tape.watch(watched)
            y = call(*tensors)
        targets = [x for x in leaves(y) if isinstance(x, Tensor)]
        found = [g for g in tape.gradient(targets, watched) if g is not None]
    return outer.gradient(found, watched) if found else []


def jacobian(call: Any, given: list[Any]) -> list[Any]:
    """The Jacobian of one number, or a few."""
    tensors = list(map(constant, given))
    watched = [x for x in tensors if x.dtype.kind in "fc"]
    with GradientTape() as tape:
        tape.watch(watched)
        targets = [x for x in leaves(call(*tensors)) if isinstance(x, Tensor)]
        y = targets[0] if targets[0].size < 5 else np.sum(targets[0], axis=-1)
    return tape.jacobian(y, watched)


ASKED = {"value": value, "gradient": gradient, "second": second, "jacobian": jacobian}


def bare(x: Any) -> Any:
    """The value in a tensor."""
    return x._value if isinstance(x, Tensor) else x


def outcome(
    asked: Any,
    call: Any,
    given: list[Any],
    cut: Any,
    first: bool = False,
    rtol: float = 1e-9,
    bound: bool = True,
) -> str:
    """``"equal"``, or the text of the refusal; raises where it is neither."""
    with quiet():
        expected = asked(call, given)
    arguments = lazy(given, cut, first)
    try:
        with dask.config.set(scheduler=raising):
            found = asked(call, arguments)
    except REFUSALS as error:
        return f"{type(error).__name__}: {error}"
    lazies = [bare(x) for x in found if is_lazy(bare(x))]
    with quiet():
        computed = dask.compute(*lazies, scheduler="synchronous")
    for array, y in zip(lazies, computed, strict=True):
        assert (array.shape, array.dtype) == (np.shape(y), y.dtype), (
            f"{array} became {y.dtype} {np.shape(y)}"
        )
    numbers = iter(computed)
    actual = [next(numbers) if is_lazy(bare(x)) else bare(x) for x in found]
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        compare(a, bare(b), rtol)
    for array in lazies if bound else ():
        bounded(array, arguments)
    return "equal"


def compare(a: Any, b: Any, rtol: float) -> None:
    """The same values, shape and dtype."""
    if b is None or a is None:
        assert a is b, f"{a} instead of {b}"
        return
    assert np.shape(a) == np.shape(b), f"shape {np.shape(a)} instead of {np.shape(b)}"
    if hasattr(b, "dtype"):
        assert a.dtype == b.dtype, f"dtype {a.dtype} instead of {b.dtype}"
    if np.asarray(b).dtype.kind in "fc" and np.size(b):
        scale = np.max(np.abs(b), initial=0, where=np.isfinite(b))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(scale, 1e-3))
    else:
        np.testing.assert_array_equal(a, b)


def bounded(array: Any, arguments: list[Any]) -> None:
    """A result as large as the input is cut, if that is; with several inputs each may be whole along other axes."""
    largest = arguments[0]
    if len(arguments) > 1 or not isinstance(largest, da.Array):
        return
    if array.size >= largest.size > 3 and largest.npartitions > 1:
        found = array.to_dask_array().numblocks
        assert max(found) > 1, f"one chunk of shape {array.shape}, of chunks {largest.chunks}"


double = np.asarray


def single(x: Any) -> Any:
    """In single precision."""
    return (
        x.astype(np.complex64 if x.dtype.kind == "c" else np.float32) if x.dtype.kind in "fc" else x
    )
