"""LazyArray: a Dask array that replaces a NumPy array inside a tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Self

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.base import compute, persist

from tapemagic.engine.laziness import MAX_KEPT_BYTES, gates, not_computed
from tapemagic.engine.tensor.methods import ArrayMethods
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.ordering import optimize
from tapemagic.lazy.stored_chunks import ChunkLocation, chunk_location, join_chunks


def call(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function on lazy arrays, through the Dask backend."""
    return gates[0].call(function, args, kwargs)


class Shape(tuple[int, ...]):  # noqa: SLOT001 (a tuple has no room for slots)
    """Shape of a lazy array that also carries its chunks, so that new arrays of this shape get the same chunks.

    Attributes
    ----------
    chunks : tuple of tuple of int
    """

    chunks: tuple[tuple[int, ...], ...]

    def __new__(cls, chunks: tuple[tuple[int, ...], ...]) -> Self:
        """Build the shape from the chunks along each axis."""
        shape = super().__new__(cls, map(sum, chunks))
        shape.chunks = chunks
        return shape

    # Rules build shapes by adding tuples: axes that come from outside are in one chunk each.
    def __radd__(self, shape: Any) -> Any:
        return Shape((*((n,) for n in shape), *self.chunks))

    def __add__(self, shape: Any) -> Any:
        chunks = shape.chunks if isinstance(shape, Shape) else tuple((n,) for n in shape)
        return Shape((*self.chunks, *chunks))

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return Shape(self.chunks[index]) if isinstance(index, slice) else part

    def __reduce__(self) -> Any:
        return Shape, (self.chunks,)


class Origin:
    """History of a lazy array, from which it can be computed again (see `source_rereads`).

    Attributes
    ----------
    level : int
        Number of successive sums over many chunks that must be finished before it.
    span : float
        Number of chunks, computed since the last of these sums, that one of its chunks depends on.
    maker : tuple of (Call or Source) and int, or None
        What recomputes it, and its position among the results; None for a sum over many chunks.
    rereads : dict of int to LazyArray
        Its recomputed copies, by level.
    spread : bool
        Whether it repeats few numbers over many chunks, such as the initial ones of a gradient or a sum that is
        repeated for each row. Each user builds its own copy.
    """

    __slots__ = ("level", "maker", "rereads", "span", "spread")

    def __init__(
        self,
        level: int = 0,
        span: float = 1,
        maker: tuple[Any, int] | None = None,
        spread: bool = False,
    ) -> None:
        self.level = level
        self.span = span
        self.maker = maker
        self.rereads: dict[int, LazyArray] = {}
        self.spread = spread


class LazyArray(ArrayMethods):
    """Dask array whose every use goes through the Dask backend, and that never computes on its own.

    ``isinstance(x, np.ndarray)`` is true, so that the engine treats it like a NumPy array.

    Attributes
    ----------
    _value : dask.array.Array
    origin : Origin
    place : Place or None
        The line of the program that recorded it.
    """

    __slots__ = ("__weakref__", "_location", "_numbers", "_shape", "_value", "origin", "place")

    # Above Dask's own priority (11), so that `dask_array * lazy` also goes through the backend.
    __array_priority__ = 1000.0

    base: Any = None
    nbytes = 0  # a tape counts bytes in memory, and here there are none

    def __init__(self, array: da.Array, origin: Origin | None = None) -> None:
        self._value = drop_empty_chunks(array)
        self.origin = origin or Origin()
        self._shape: Shape | None = None
        self._numbers: Any = None
        self._location: ChunkLocation | None = None
        self.place: Any = None

    # The engine asks isinstance(x, np.ndarray) in many places, some in NumPy's own code.
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def shape(self) -> Shape:
        """Length of each axis, with the chunks."""
        if self._shape is None:
            self._shape = Shape(self._value.chunks)
        return self._shape

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of the chunks along each axis."""
        return self._value.chunks

    @property
    def _meta(self) -> Any:
        return meta_from_array(self._value)

    @property
    def npartitions(self) -> int:
        """Number of chunks."""
        return self._value.npartitions

    def _flags(self) -> Any:
        """Refuse: a lazy array has no memory layout."""
        raise UnsupportedArgumentError(
            "orders 'A' and 'K' follow the memory layout, and this Dask array is not computed yet: "
            "write order='C' or order='F'"
        )

    flags: Any = property(_flags)

    def _strides(self) -> tuple[int, ...]:
        """Strides in bytes of a row-major array of this shape."""
        steps = [self.itemsize]
        for length in self.shape[:0:-1]:
            steps.append(steps[-1] * length)
        return tuple(reversed(steps[: self.ndim]))

    strides: Any = property(_strides)

    def keep(self, numbers: Any) -> None:
        """Cache the computed numbers if they are small."""
        if self._value.nbytes <= MAX_KEPT_BYTES:
            # [()] turns an array without axes into a scalar, as NumPy's functions return one.
            self._numbers = np.asarray(numbers)[()]

    @property
    def location(self) -> ChunkLocation:
        """Location of the chunks: "in memory", "persisted" on a cluster, or "" if they must be computed."""
        if self._location is None:
            self._location = chunk_location(self._value)
        return self._location

    @property
    def computed(self) -> Any:
        """Numbers for display, or None unless they are in memory and small."""
        if (
            self._numbers is None
            and self.location == "in memory"
            and self._value.nbytes <= MAX_KEPT_BYTES
        ):
            self._numbers = join_chunks(self._value)
        return self._numbers

    @property
    def name(self) -> str:
        """Name of the Dask graph that computes the array."""
        return self._value.name

    def to_dask_array(self) -> da.Array:
        """Return the Dask array."""
        return self._value

    def copy(self, order: Any = "C") -> Any:  # noqa: ARG002 (NumPy's signature)
        """Return another lazy array with the same values."""
        return LazyArray(self._value, self.origin)

    def astype(
        self,
        dtype: Any,
        order: Any = "K",  # noqa: ARG002 (NumPy's signature)
        casting: Any = "unsafe",
        subok: bool = True,  # noqa: ARG002
        copy: bool = True,  # noqa: ARG002
    ) -> Any:
        """Cast to another dtype."""
        return call(np.astype, (self, dtype), {"casting": casting})

    def compute(self, **options: Any) -> Any:
        """Compute the numbers: a NumPy array, or a scalar for shape ()."""
        (numbers,) = compute(self, **options)
        return numbers

    def persist(self, **options: Any) -> Any:
        """Return a lazy array whose chunks are computed and stay in the scheduler's memory."""
        (persisted,) = persist(self, **options)
        return LazyArray(persisted.to_dask_array())

    def rechunk(self, *chunks: Any, **options: Any) -> Any:
        """Return the same numbers in other chunks."""
        return call(da.rechunk, (self, *chunks), options)

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        # Without __iter__, Python would call __getitem__ until an IndexError.
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return call(operator.getitem, (self, index), {})

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # The tensor's own handler takes over then, so that the operation is recorded.
        if any(isinstance(x, Traced) for x in inputs):
            return NotImplemented
        # Rules write into their own arrays by out=. A lazy array is rebound instead, as nothing is in memory;
        # a NumPy array cannot receive numbers that are not computed.
        out = kwargs.pop("out", None)
        if out is not None and any(type(x) is not LazyArray for x in out):
            self._refuse("an array to write into")
        y = call(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)
        if out is not None and type(out[0]) is LazyArray:
            _rebind(out[0], y)
        return y

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(issubclass(kind, Traced) for kind in types):
            return NotImplemented
        measure = MEASURES.get(function)
        return measure(*args, **kwargs) if measure else call(function, args, kwargs)

    def _refuse(self, how: str) -> Any:
        raise not_computed(self.shape, how)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._refuse("np.asarray()")

    def __bool__(self) -> bool:
        return self._refuse("if, or bool(),")

    def __float__(self) -> float:
        return self._refuse("float()")

    def __int__(self) -> int:
        return self._refuse("int()")

    def __complex__(self) -> complex:
        return self._refuse("complex()")

    def __index__(self) -> int:
        return self._refuse("an index")

    def item(self, *_index: int) -> Any:
        """Refuse, because it would compute."""
        return self._refuse(".item()")

    def tolist(self) -> Any:
        """Refuse, because it would compute."""
        return self._refuse(".tolist()")

    def __setitem__(self, index: Any, value: Any) -> None:
        self._refuse("x[i] = ...")

    def __repr__(self) -> str:
        array = self._value
        return f"dask.array<shape={array.shape}, dtype={array.dtype}, chunksize={array.chunksize}>"

    # Comparison is element-wise, as for NumPy arrays, so a dict could not compare keys.
    __hash__ = None  # type: ignore[assignment]

    def __dask_graph__(self) -> Any:
        return self._value.__dask_graph__()

    def __dask_keys__(self) -> Any:
        return self._value.__dask_keys__()

    def __dask_layers__(self) -> Any:
        return self._value.__dask_layers__()

    def __dask_tokenize__(self) -> Any:
        return self._value.__dask_tokenize__()

    def __dask_postcompute__(self) -> Any:
        return self._value.__dask_postcompute__()

    def __dask_postpersist__(self) -> Any:
        rebuild, args = self._value.__dask_postpersist__()
        return _rebuild, (rebuild, args)

    __dask_optimize__ = staticmethod(optimize)

    __dask_scheduler__ = staticmethod(da.Array.__dask_scheduler__)

    def __reduce__(self) -> Any:
        return LazyArray, (self._value,)


def drop_empty_chunks(array: da.Array) -> da.Array:
    """Remove empty chunks, except for the only chunk of an axis of length 0.

    Some Dask functions return wrong numbers with them: broadcasting an axis of length 1 reads the first element of each
    chunk, and slices with negative steps lose elements.
    """
    cuts = {
        axis: tuple(filter(None, cut)) or (0,)
        for axis, cut in enumerate(array.chunks)
        if 0 in cut and len(cut) > 1
    }
    if not cuts:
        return array
    if not array.size:  # Dask does not rechunk arrays without elements
        chunks = tuple(cuts.get(axis, cut) for axis, cut in enumerate(array.chunks))
        return da.zeros(array.shape, dtype=array.dtype, chunks=chunks)
    return array.rechunk(cuts)


def _rebuild(dsk: Any, rebuild: Any, args: Any, *, rename: Any = None) -> Any:
    return LazyArray(rebuild(dsk, *args, rename=rename))


MEASURES: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: np.size(np.broadcast_to(0, tuple(a.shape)), axis),
}
"""NumPy functions that read lengths only, so they need no computation."""


def _rebind(target: LazyArray, value: LazyArray) -> None:
    """Replace the values of a lazy array by others of the same shape, as an in-place operation does."""
    target._value, target._numbers, target._location = value._value, value._numbers, value._location
    target._shape = None
    target.origin = value.origin


def _binary(function: Any) -> Callable[[Any, Any], Any]:
    def forward(self: Any, value: Any) -> Any:
        return NotImplemented if isinstance(value, Traced) else call(function, (self, value), {})

    return forward


def _reflected(function: Any) -> Callable[[Any, Any], Any]:
    def forward(self: Any, value: Any) -> Any:
        return NotImplemented if isinstance(value, Traced) else call(function, (value, self), {})

    return forward


BINARY: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "divmod": np.divmod,
}
COMPARISONS: dict[str, Any] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
UNARY: dict[str, Any] = {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}

for _name, _function in {**BINARY, **COMPARISONS}.items():
    setattr(LazyArray, f"__{_name}__", _binary(_function))
for _name, _function in BINARY.items():
    setattr(LazyArray, f"__r{_name}__", _reflected(_function))
for _name, _function in UNARY.items():
    setattr(LazyArray, f"__{_name}__", lambda self, _f=_function: call(_f, (self,), {}))
