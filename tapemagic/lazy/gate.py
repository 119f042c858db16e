"""The gate: how each function is computed on lazy arrays, or why it is refused.

The table of ways decides. A function that is computed element by element needs no line there: it runs inside each
chunk. So does any other function of NumPy's, SciPy's or this package's whose arrays are in one chunk each. All else is
refused: Dask would compute it at once.
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from tapemagic.engine import registry
from tapemagic.engine.events import user_line
from tapemagic.engine.laziness import LAZY
from tapemagic.engine.tracing import tracer
from tapemagic.lazy import implementations as _ways  # noqa: F401 (fills the table)
from tapemagic.lazy.array import LazyArray, Origin, Shape
from tapemagic.lazy.coercion import kept
from tapemagic.lazy.implementations.along import ALONG, along
from tapemagic.lazy.implementations.blocks import filled, pointwise, whole
from tapemagic.lazy.implementations.rules import gradient_in_chunks
from tapemagic.lazy.implementations.table import POINTWISE, STEPS, WAYS
from tapemagic.lazy.implementations.ufunc_methods import is_method, method
from tapemagic.lazy.ordering import SPREAD, note
from tapemagic.lazy.source_rereads import Call, lazy_in, mapped


def lowered(value: Any) -> Any:
    """Nested arguments with Dask's arrays in the place of lazy ones."""
    return mapped(LazyArray.to_dask_array, value)


def raised(value: Any) -> Any:
    """Results with lazy arrays in the place of Dask's."""
    if isinstance(value, da.Array):
        return LazyArray(value)
    if type(value) in (tuple, list):
        return type(value)(map(raised, value))
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(raised, value))
    return value


def computed(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of Dask's arrays: in a way of its own, element by element, along axes, or whole."""
    way = WAYS.get(function)
    if way is not None:
        return way(*args, **kwargs)
    operation = registry.OPERATIONS.get(function)
    ufunc = isinstance(function, np.ufunc) and function.signature is None
    if ufunc or function in POINTWISE or (operation is not None and operation.pointwise):
        return pointwise(function, args, kwargs)
    if function in ALONG:
        return along(function, args, kwargs)
    if is_method(function):
        return method(function, args, kwargs)
    return whole(function, args, kwargs)


class DaskGate:
    """The gate for Dask's arrays."""

    def reads(self, args: Any) -> bool:
        """Whether a lazy array is among nested arguments."""
        kind = type(args)
        if kind is LazyArray:
            return True
        if kind is tuple or kind is list or issubclass(kind, tuple):
            return any(map(self.reads, args))
        if kind is dict:
            return any(map(self.reads, args.values()))
        if kind is slice:
            return any(map(self.reads, (args.start, args.stop, args.step)))
        return False

    def gradient(
        self, operation: Any, position: int, arguments: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        """The gradient of an input by a rule which runs in each chunk, on numbers."""
        return gradient_in_chunks(operation, position, arguments, params)

    def keep(self, value: Any, dtype: Any) -> Any:
        """The lazy array of a Dask array, cast to a dtype unless that is None."""
        return kept(value, dtype)

    def filled(self, value: Any, shape: tuple[int, ...]) -> Any:
        """One number in every place of a new array, which is cut as the shape says."""
        chunks = shape.chunks if isinstance(shape, Shape) else "auto"
        array = filled(tuple(shape), value, value.dtype, chunks)
        note(array, SPREAD, True)
        return LazyArray(array, Origin(spread=True))

    def call(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The lazy result of a function on arguments with a lazy array among them."""
        told = tracer()
        if told is not None:
            told.leave(LAZY)
            args, kwargs = told.value((args, kwargs))
        steps = STEPS.get(function)
        found = steps(*args, **kwargs) if steps is not None else NotImplemented
        if found is NotImplemented:
            found = Call(_computed, function, args, kwargs).results()
        place = user_line()
        for y in lazy_in(found):
            y.place = place
        return found


def _computed(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    return raised(computed(function, lowered(args), lowered(kwargs)))


GATE = DaskGate()
