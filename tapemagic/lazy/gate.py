"""Compute each function on lazy arrays, or refuse it with a reason.

The table of implementations decides. An element-wise function needs no entry: it runs inside each chunk. So does any
other NumPy, SciPy or tapemagic function if each of its arrays is in one chunk. Everything else is refused, because
Dask would compute it immediately.
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from tapemagic.engine import registry
from tapemagic.engine.events import user_line
from tapemagic.engine.laziness import LAZY
from tapemagic.engine.tracing import tracer
from tapemagic.lazy import implementations as _implementations  # noqa: F401 (fills the table)
from tapemagic.lazy.array import LazyArray, Origin, Shape
from tapemagic.lazy.coercion import lazy_array
from tapemagic.lazy.implementations.along import ALONG, along
from tapemagic.lazy.implementations.blocks import filled, on_single_chunk, pointwise
from tapemagic.lazy.implementations.rules import gradient_in_chunks
from tapemagic.lazy.implementations.table import IMPLEMENTATIONS, POINTWISE, STEPWISE
from tapemagic.lazy.implementations.ufunc_methods import is_method, method
from tapemagic.lazy.ordering import SPREAD, annotate
from tapemagic.lazy.source_rereads import Call, lazy_in, map_lazy


def to_dask(value: Any) -> Any:
    """Replace lazy arrays in nested arguments by their Dask arrays."""
    return map_lazy(LazyArray.to_dask_array, value)


def to_lazy(value: Any) -> Any:
    """Replace Dask arrays in nested results by lazy arrays."""
    if isinstance(value, da.Array):
        return LazyArray(value)
    if type(value) in (tuple, list):
        return type(value)(map(to_lazy, value))
    # A namedtuple, such as the result of np.linalg.eigh.
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(to_lazy, value))
    return value


def run_on_dask(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a function on Dask arrays: by its own implementation, element by element, along axes, or in one chunk."""
    # The table comes first, because it also holds the refusals.
    implementation = IMPLEMENTATIONS.get(function)
    if implementation is not None:
        return implementation(*args, **kwargs)
    operation = registry.OPERATIONS.get(function)
    # A ufunc with a signature, such as np.matmul, is not element-wise.
    ufunc = isinstance(function, np.ufunc) and function.signature is None
    if ufunc or function in POINTWISE or (operation is not None and operation.pointwise):
        return pointwise(function, args, kwargs)
    if function in ALONG:
        return along(function, args, kwargs)
    if is_method(function):
        return method(function, args, kwargs)
    return on_single_chunk(function, args, kwargs)


class DaskBackend:
    """The interface that the engine calls for Dask arrays."""

    def reads(self, args: Any) -> bool:
        """Return True if nested arguments contain a lazy array."""
        # The engine asks this of every call once Dask is in use: exact types first, and no recursion into plain values.
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
        """Compute the gradient of an input by running its rule on the numbers of each chunk."""
        return gradient_in_chunks(operation, position, arguments, params)

    def keep(self, value: Any, dtype: Any) -> Any:
        """Wrap a Dask array as a lazy array, and cast it to `dtype` if given."""
        return lazy_array(value, dtype)

    def filled(self, value: Any, shape: tuple[int, ...]) -> Any:
        """Fill a new array with one number, in the chunks that the shape carries."""
        chunks = shape.chunks if isinstance(shape, Shape) else "auto"
        array = filled(tuple(shape), value, value.dtype, chunks)
        # Marked as spread, so that no reread or fused task waits for it: each user makes its own copy.
        annotate(array, SPREAD, True)
        return LazyArray(array, Origin(spread=True))

    def call(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Call a function whose arguments contain a lazy array; the result is lazy."""
        trace = tracer()
        if trace is not None:
            # A program replays NumPy calls on arrays in memory, so a lazy call ends it; the numbers stay right.
            trace.mark_exit(LAZY)
            args, kwargs = trace.value((args, kwargs))
        steps = STEPWISE.get(function)
        result = steps(*args, **kwargs) if steps is not None else NotImplemented
        if result is NotImplemented:
            result = Call(_compute_on_dask, function, args, kwargs).results()
        line = user_line()
        for y in lazy_in(result):
            y.place = line
        return result


def _compute_on_dask(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    return to_lazy(run_on_dask(function, to_dask(args), to_dask(kwargs)))


GATE = DaskBackend()
