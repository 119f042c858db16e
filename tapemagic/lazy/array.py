"""LazyArray: a Dask array in the place of NumPy's array inside a tensor."""

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
from tapemagic.lazy.stored_chunks import Where, joined, whereabouts


def call(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function according to the gate."""
    return gates[0].call(function, args, kwargs)


class Shape(tuple[int, ...]):  # noqa: SLOT001 (a tuple has no room for slots)
    """The shape of a lazy array, which knows how that is cut, so that a new array of this shape is cut alike.

    Attributes
    ----------
    chunks : tuple of tuple of int
    """

    chunks: tuple[tuple[int, ...], ...]

    def __new__(cls, chunks: tuple[tuple[int, ...], ...]) -> Self:
        """The shape of an array that is cut into chunks."""
        made = super().__new__(cls, map(sum, chunks))
        made.chunks = chunks
        return made

    def __radd__(self, other: Any) -> Any:
        return Shape((*((n,) for n in other), *self.chunks))

    def __add__(self, other: Any) -> Any:
        chunks = other.chunks if isinstance(other, Shape) else tuple((n,) for n in other)
        return Shape((*self.chunks, *chunks))

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Shape(self.chunks[index]) if isinstance(index, slice) else found

    def __reduce__(self) -> Any:
        return Shape, (self.chunks,)


class Origin:
    """The way in which a lazy array came about, for what computes it anew.

    Attributes
    ----------
    level : int
        The number of sums over many chunks, one after the other, that have to be known before it.
    span : float
        The number of chunks, computed since the last of these sums, that one of its chunks depends on.
    made_by : tuple of (Call or Source) and int, or None
        What makes it anew, and its place among the arrays made; of a sum over many chunks None.
    again : dict of int to LazyArray
        The array made anew for higher levels.
    spread : bool
        Whether it is made of few numbers, as the ones are from which a gradient starts, and a sum that is repeated for
        each row: it is made anew for each use.
    """

    __slots__ = ("again", "level", "made_by", "span", "spread")

    def __init__(
        self,
        level: int = 0,
        span: float = 1,
        made_by: tuple[Any, int] | None = None,
        spread: bool = False,
    ) -> None:
        self.level = level
        self.span = span
        self.made_by = made_by
        self.again: dict[int, LazyArray] = {}
        self.spread = spread


class LazyArray(ArrayMethods):
    """A Dask array whose every use goes through the gate, and that never computes by itself.

    To Python it is an instance of NumPy's array, so that the engine takes the ways that it takes with one.

    Attributes
    ----------
    _value : dask.array.Array
    origin : Origin
    place : Place or None
        The line of the program that recorded it.
    """

    __slots__ = ("__weakref__", "_held", "_numbers", "_shape", "_value", "origin", "place")

    __array_priority__ = 1000.0

    base: Any = None
    nbytes = 0  # in memory, of which a tape keeps account

    def __init__(self, array: da.Array, origin: Origin | None = None) -> None:
        self._value = without_empty(array)
        self.origin = origin or Origin()
        self._shape: Shape | None = None
        self._numbers: Any = None
        self._held: Where | None = None
        self.place: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def shape(self) -> Shape:
        """The length of each axis, which also says how it is cut."""
        if self._shape is None:
            self._shape = Shape(self._value.chunks)
        return self._shape

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the pieces along each axis."""
        return self._value.chunks

    @property
    def _meta(self) -> Any:
        return meta_from_array(self._value)

    @property
    def npartitions(self) -> int:
        """The number of pieces."""
        return self._value.npartitions

    def _flags(self) -> Any:
        """Refuse: there is no memory yet."""
        raise UnsupportedArgumentError(
            "the orders 'A' and 'K' follow the layout in memory, which an array that is not computed does not have: "
            "write order='C' or order='F'"
        )

    flags: Any = property(_flags)

    def _strides(self) -> tuple[int, ...]:
        """The steps in bytes, as in an array that lies in memory row by row."""
        steps = [self.itemsize]
        for length in self.shape[:0:-1]:
            steps.append(steps[-1] * length)
        return tuple(reversed(steps[: self.ndim]))

    strides: Any = property(_strides)

    def keep(self, numbers: Any) -> None:
        """Keep the numbers that were computed, if they are few."""
        if self._value.nbytes <= MAX_KEPT_BYTES:
            self._numbers = np.asarray(numbers)[()]

    @property
    def held(self) -> Where:
        """The place of the chunks: "in memory", "persisted" by a cluster, or empty if they have to be computed."""
        if self._held is None:
            self._held = whereabouts(self._value)
        return self._held

    @property
    def computed(self) -> Any:
        """The numbers for what shows the value, if they were computed or are in memory, and are few; else None."""
        if self._numbers is None and self.held == "in memory" and self._value.nbytes <= MAX_KEPT_BYTES:
            self._numbers = joined(self._value)
        return self._numbers

    @property
    def name(self) -> str:
        """The name of the graph that computes it, by which Dask knows it."""
        return self._value.name

    def to_dask_array(self) -> da.Array:
        """The array of Dask's."""
        return self._value

    def copy(self, order: Any = "C") -> Any:  # noqa: ARG002 (NumPy's signature)
        """Another lazy array with the same values."""
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
        """The numbers, as an array or a number of NumPy's."""
        (numbers,) = compute(self, **options)
        return numbers

    def persist(self, **options: Any) -> Any:
        """A lazy array whose chunks are computed, and kept in memory by the scheduler."""
        (persisted,) = persist(self, **options)
        return LazyArray(persisted.to_dask_array())

    def rechunk(self, *chunks: Any, **options: Any) -> Any:
        """The same numbers, cut otherwise."""
        return call(da.rechunk, (self, *chunks), options)

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return call(operator.getitem, (self, index), {})

    def __array_ufunc__(self, ufunc: Any, way: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Traced) for x in inputs):
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is not None and any(type(x) is not LazyArray for x in out):
            self._refuse("an array to write into")
        y = call(ufunc if way == "__call__" else getattr(ufunc, way), inputs, kwargs)
        if out is not None and type(out[0]) is LazyArray:
            _put(out[0], y)
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
        """Refuse: it would compute."""
        return self._refuse(".item()")

    def tolist(self) -> Any:
        """Refuse: it would compute."""
        return self._refuse(".tolist()")

    def __setitem__(self, index: Any, value: Any) -> None:
        self._refuse("x[i] = ...")

    def __repr__(self) -> str:
        array = self._value
        return f"dask.array<shape={array.shape}, dtype={array.dtype}, chunksize={array.chunksize}>"

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
        return _rebuilt, (rebuild, args)

    __dask_optimize__ = staticmethod(optimize)

    __dask_scheduler__ = staticmethod(da.Array.__dask_scheduler__)

    def __reduce__(self) -> Any:
        return LazyArray, (self._value,)


def without_empty(array: da.Array) -> da.Array:
    """An array without empty chunks, but for one along an axis of length 0.

    Functions of Dask's give wrong numbers with them: along an axis of length 1, which is repeated, they look for the
    only place in each chunk, and slices that go backwards lose elements.
    """
    cuts = {
        axis: tuple(filter(None, cut)) or (0,)
        for axis, cut in enumerate(array.chunks)
        if 0 in cut and len(cut) > 1
    }
    if not cuts:
        return array
    if not array.size:  # of which Dask leaves the chunks as they are
        chunks = tuple(cuts.get(axis, cut) for axis, cut in enumerate(array.chunks))
        return da.zeros(array.shape, dtype=array.dtype, chunks=chunks)
    return array.rechunk(cuts)


def _rebuilt(dsk: Any, rebuild: Any, args: Any, *, rename: Any = None) -> Any:
    return LazyArray(rebuild(dsk, *args, rename=rename))


MEASURES: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: np.size(np.broadcast_to(0, tuple(a.shape)), axis),
}
"""NumPy's functions that read no numbers, and give none but lengths."""


def _put(target: LazyArray, value: LazyArray) -> None:
    """Let a lazy array stand for other values of the same shape: an operation in place."""
    target._value, target._numbers, target._held = value._value, value._numbers, value._held
    target._shape = None
    target.origin = value.origin


def _binary(function: Any) -> Callable[[Any, Any], Any]:
    def forward(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, Traced) else call(function, (self, other), {})

    return forward


def _reflected(function: Any) -> Callable[[Any, Any], Any]:
    def forward(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, Traced) else call(function, (other, self), {})

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
