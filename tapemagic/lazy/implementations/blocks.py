"""Functions computed chunk by chunk: along some axes of their arguments, each in one piece, or element by element.

An argument's axes are labelled. Along the labelled ones the function does the same in every chunk; axes that have the
same label belong together, and broadcast. An axis with the label None has to be in one piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from dask.base import tokenize
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.engine.laziness import refusal
from tapemagic.engine.tensor.messages import public_name
from tapemagic.errors import UnsupportedArgumentError

Labels = tuple[int | None, ...]

NEW, CORE = 100, 1000
"""The numbers in Dask's notation of axes that only a result has, and of those that only an argument has."""

TRIAL = 1 << 20
"""The number of elements up to which a function is tried out on numbers of its own, to see what it returns."""

IN_MEMORY = "write x.compute() first, or give the loss to tapemagic.distributed.value_and_grad"
"""The advice where nothing else helps."""

HOMES = frozenset({"numpy", "scipy", "tapemagic"})
"""The packages whose functions are tried out."""

INLINE = 1 << 16
"""The bytes up to which an array in memory is named by its numbers."""


class Slot:
    """The place of an array among the arguments of a call.

    It is no number, which for Dask would be the same as an argument that is this number.
    """

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __dask_tokenize__(self) -> Any:
        return "slot", self.number

    def __reduce__(self) -> Any:
        return Slot, (self.number,)


def taken_out(value: Any, wanted: Callable[[Any], bool], found: list[Any]) -> Any:
    """Nested arguments with numbered places for the arrays that are wanted, which are added to a list."""
    if wanted(value):
        found.append(value)
        return Slot(len(found) - 1)
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([taken_out(x, wanted, found) for x in value])
    if kind is dict:
        return {key: taken_out(x, wanted, found) for key, x in value.items()}
    return value


def put_in(value: Any, arrays: Sequence[Any]) -> Any:
    """Nested arguments with arrays in the numbered places."""
    kind = type(value)
    if kind is Slot:
        return arrays[value.number]
    if kind is tuple or kind is list:
        return kind([put_in(x, arrays) for x in value])
    if kind is dict:
        return {key: put_in(x, arrays) for key, x in value.items()}
    return value


class Task:
    """A call that waits for its arrays."""

    __slots__ = ("args", "function", "kwargs", "may_be_complex", "shapes")

    def __init__(
        self, function: Any, args: Any, kwargs: Any, shapes: Any = None, may_be_complex: bool = True
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.shapes = shapes
        self.may_be_complex = may_be_complex

    def __call__(self, *arrays: Any) -> Any:
        """The function's result."""
        y = self.function(*put_in(self.args, arrays), **put_in(self.kwargs, arrays))
        if not self.may_be_complex and any(np.iscomplexobj(part) for part in parts_of(y)):
            raise UnsupportedArgumentError(
                f"{public_name(self.function)} gave complex numbers, which depends on the numbers of its lazy "
                "arguments: write np.astype(x, complex) before it, or x.compute()"
            )
        if self.shapes is not None:
            found = [np.shape(part) for part in parts_of(y)]
            if found != self.shapes:
                raise UnsupportedArgumentError(
                    f"{public_name(self.function)} gave shapes {found}, which depend on the numbers of its lazy "
                    f"arguments, and not {self.shapes}: write x.compute() before it"
                )
        return np.asarray(y)[()] if isinstance(y, (bool, int, float, complex)) else y

    def __reduce__(self) -> Any:
        return Task, (self.function, self.args, self.kwargs, self.shapes, self.may_be_complex)


class Part:
    """One of several results."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, y: Any) -> Any:
        """The result with that number."""
        return np.asarray(y[self.number])

    def __reduce__(self) -> Any:
        return Part, (self.number,)


class Result(NamedTuple):
    """A result before it is computed: its dtype, and for each axis a label, or its length."""

    dtype: Any
    axes: tuple[tuple[int | None, int], ...]


def parts_of(y: Any) -> list[Any]:
    """The results of a function, one or several."""
    return list(y) if isinstance(y, (tuple, list)) else [y]


def is_lazy(x: Any) -> bool:
    """Whether something is a Dask array."""
    return isinstance(x, da.Array)


def is_array(x: Any) -> bool:
    """Whether something is an array, in memory or not."""
    return isinstance(x, (da.Array, np.ndarray))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` names, none negative; of a number NumPy lets it be the first or last one."""
    if axis is None or (not ndim and axis in (0, -1)):
        return tuple(range(ndim))
    return normalize_axis_tuple(axis, ndim)


def right(ndim: int, core: Sequence[int] = ()) -> Labels:
    """Labels that count the axes from the end, but for `core`, which are negative."""
    return tuple(None if axis in core else axis for axis in range(-ndim, 0))


def leading(ndim: int, core: int) -> Labels:
    """Labels that count the axes before the last `core` from the end."""
    return (*range(core - ndim, 0), *(None,) * min(core, ndim))


def pointwise(function: Any, args: Any, kwargs: Any) -> Any:
    """A function that computes each element from the elements at its own place."""
    args = [np.asarray(x) if type(x) in (list, tuple) and not _holds(x) else x for x in args]
    return blockwise(function, args, kwargs, lambda arrays: [right(x.ndim) for x in arrays], True)


def _holds(x: Any) -> bool:
    return any(map(_holds, x)) if isinstance(x, (list, tuple)) else is_array(x)


def whole(function: Any, args: Any, kwargs: Any) -> Any:
    """A function whose arrays are in one piece each: one of NumPy's, SciPy's, or this package's.

    Other functions are not tried out on numbers of no meaning.
    """
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    if home not in HOMES and not isinstance(function, np.ufunc):
        raise UnsupportedArgumentError(
            f"{public_name(function)} cannot be recorded on lazy values: what it returns is not known before it is "
            "called. Write tapemagic.distributed.map_blocks(f, x), which applies a function to each chunk, or NumPy's "
            "functions in its place"
        )
    return blockwise(function, args, kwargs, lambda arrays: [(None,) * x.ndim for x in arrays])


def blockwise(
    function: Any,
    args: Any,
    kwargs: Any,
    labelled: Callable[[list[Any]], list[Labels]],
    same: bool = False,
) -> Any:
    """The results of a function that does the same in every chunk.

    Parameters
    ----------
    function : callable
        A function of NumPy's arrays.
    args, kwargs : sequence, dict
        Its arguments, with Dask's arrays among them.
    labelled : callable
        Given the arrays among the arguments, the labels of the axes of each.
    same : bool
        Whether the axes of the results are the labels.
    """
    arrays: list[Any] = []
    args = taken_out(tuple(args), is_array, arrays)
    kwargs = taken_out(kwargs, is_array, arrays)
    labels = labelled(arrays)
    if not same:
        short = {name for name, n in lengths_of(arrays, labels).items() if n == 1}
        labels = [tuple(None if name in short else name for name in names) for names in labels]
    arrays = [whole_if_empty(x, names) for x, names in zip(arrays, labels, strict=True)]
    for x, names in zip(arrays, labels, strict=True):
        require_whole(public_name(function), x, names)
    lengths = lengths_of(arrays, labels)
    results, kind = (_same if same else _tried)(function, args, kwargs, arrays, labels, lengths)
    fixed = None
    if not any(name is not None for names in labels for name in names):
        fixed = [tuple(length for _, length in result.axes) for result in results]
    expected = any(result.dtype.kind in "cO" for result in results)
    task = Task(function, args, kwargs, fixed, expected)
    arrays = cut_alike(arrays, labels)
    pairs = [
        part
        for x, names in zip(arrays, unique(labels), strict=True)
        for part in (x, names if is_lazy(x) else None)
    ]
    token = tokenize(function, args, kwargs, [x.name if is_lazy(x) else x for x in arrays], labels)
    name = f"{getattr(function, '__name__', 'function').strip('_<>')}-{token}"
    found = [name for names in labels for name in names if name is not None]
    if kind is None:
        return _one(task, name, pairs, results[0])
    loops = tuple(dict.fromkeys(sorted(found)))
    return kind(_several(task, name, pairs, results, loops))


def _one(task: Any, name: str, pairs: list[Any], result: Result) -> Any:
    """One result."""
    index, new = _index(result)
    meta = np.empty((0,) * len(index), result.dtype)
    return apart(
        da.blockwise(
            task,
            index,
            *pairs,
            name=name,
            new_axes=new,
            concatenate=True,
            dtype=result.dtype,
            meta=meta,
        ),
        new,
    )


def apart(y: Any, new_axes: dict[Any, int]) -> Any:
    """A result of ``da.blockwise`` with new axes, for Dask not to fuse with what follows where one has length 1.

    Dask 2026.8 takes such an axis for that of an array with which the result is broadcast: chunks are lost.
    """
    return y.blocks[(slice(None),) * y.ndim] if 1 in new_axes.values() else y


def _several(
    task: Any, name: str, pairs: list[Any], results: list[Result], loops: Any
) -> list[Any]:
    """Several results, which each chunk computes together."""
    none = np.empty((0,) * len(loops), object)
    together = da.blockwise(
        task, loops, *pairs, name=name, concatenate=True, dtype=object, meta=none
    )
    return [
        _one(Part(k), f"part-{k}-{name}", [together, loops], result)
        for k, result in enumerate(results)
    ]


def _index(result: Result) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """The index of a result in Dask's notation, and the lengths of its axes that no argument has."""
    index: list[Any] = []
    new = {}
    for k, (label, length) in enumerate(result.axes):
        index.append(NEW + k if label is None else label)
        if label is None:
            new[NEW + k] = length
    return tuple(index), new


def unique(labels: list[Labels]) -> list[tuple[Any, ...]]:
    """The labels, with one of its own in the place of each None."""
    return [
        tuple(CORE * (k + 1) + axis if name is None else name for axis, name in enumerate(names))
        for k, names in enumerate(labels)
    ]


def lengths_of(arrays: list[Any], labels: list[Labels]) -> dict[int, int]:
    """The length that belongs to each label."""
    lengths: dict[int, int] = {}
    for x, names in zip(arrays, labels, strict=True):
        for name, n in zip(names, x.shape, strict=True):
            if name is not None and lengths.get(name, 1) == 1:
                lengths[name] = n
            elif name is not None and n not in (1, lengths[name]):
                shapes = " ".join(str(tuple(map(int, array.shape))) for array in arrays)
                raise ValueError(f"operands could not be broadcast together with shapes {shapes}")
    return lengths


def cut_alike(arrays: list[Any], labels: list[Labels]) -> list[Any]:
    """The arrays, those in memory cut like their partners along the axes that they share."""
    chunks: dict[Any, Any] = {}
    for x, names in zip(arrays, labels, strict=True):
        if is_lazy(x):
            for name, cut in zip(names, x.chunks, strict=True):
                if name is not None and len(cut) > len(chunks.get(name, ())) and sum(cut) != 1:
                    chunks[name] = cut
    found = []
    known = {name for x, names in zip(arrays, labels, strict=True) if is_lazy(x) for name in names}
    for x, names in zip(arrays, labels, strict=True):
        if not is_lazy(x) and any(
            name is not None and (n != 1 or name not in known)
            for name, n in zip(names, x.shape, strict=True)
        ):
            cuts = tuple(
                chunks.get(name, (n,)) if n != 1 else (1,)
                for name, n in zip(names, x.shape, strict=True)
            )
            found.append(in_chunks(x, cuts))
        else:
            found.append(x)
    return found


def in_chunks(x: Any, chunks: Any) -> Any:
    """An array in memory as a Dask array; one that repeats few numbers stays so."""
    if x.size > 1 and any(n > 1 and not step for n, step in zip(x.shape, x.strides, strict=True)):
        small = x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides)]
        cuts = tuple((1,) if n == 1 else cut for n, cut in zip(small.shape, chunks, strict=True))
        return da.broadcast_to(in_chunks(np.ascontiguousarray(small), cuts), x.shape, chunks=chunks)
    return da.from_array(x, chunks=chunks, name=None if x.nbytes <= INLINE else False)


def whole_if_empty(x: Any, names: Labels) -> Any:
    """An array, in one piece along the axes without label if it has no elements."""
    if not is_lazy(x) or x.size:
        return x
    chunks = [
        (n,) if name is None else cut for n, name, cut in zip(x.shape, names, x.chunks, strict=True)
    ]
    return filled(x.shape, 0, x.dtype, tuple(chunks))


def filled(shape: tuple[int, ...], value: Any, dtype: Any, chunks: Any = "auto") -> Any:
    """A Dask array with one number in every place.

    It has a name of its own: for the one that it gives, Dask pickles a function of its own, which takes longer than all
    else.
    """
    chunks = normalize_chunks(chunks, shape, dtype=dtype)
    name = f"full-{tokenize(shape, value, np.dtype(dtype), chunks)}"
    return da.full(shape, value, dtype=dtype, chunks=chunks, name=name)


def require_whole(name: str, x: Any, names: Labels) -> None:
    """Refuse an array that is cut along an axis which a function of that name needs in one piece."""
    if not is_lazy(x):
        return
    cut = [axis for axis, label in enumerate(names) if label is None and len(x.chunks[axis]) > 1]
    if cut:
        wanted = ", ".join(f"{axis}: -1" for axis in cut)
        pieces = ", ".join(str(len(x.chunks[axis])) for axis in cut)
        raise refusal(
            name,
            f"{name} needs axis {', '.join(map(str, cut))} of shape {tuple(x.shape)} in one chunk, "
            f"and it is cut into {pieces}: write x.rechunk({{{wanted}}}), if "
            "the chunks then still fit into memory, or give a loss that is a mean or a sum over rows to "
            "tapemagic.distributed.value_and_grad",
        )


def dummy(shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers of no meaning for which most functions are defined: a positive definite matrix, index 0, True."""
    if dtype.kind not in "fc":
        return np.zeros(shape, dtype) if dtype.kind in "iu" else np.ones(shape, dtype)
    if len(shape) < 2:
        return np.linspace(0.25, 0.75, math.prod(shape), dtype=dtype).reshape(shape)
    *_, rows, columns = shape
    return np.broadcast_to((0.25 + 0.5 * np.eye(rows, columns)).astype(dtype), shape)


def _trial(
    function: Any,
    args: Any,
    kwargs: Any,
    arrays: list[Any],
    labels: list[Labels],
    lengths: dict[int, int],
) -> Any:
    """The result for arrays whose labelled axes have other lengths, made of numbers of no meaning."""
    dummies = []
    for x, names in zip(arrays, labels, strict=True):
        shape = tuple(
            n if name is None or n == 1 else lengths[name]
            for name, n in zip(names, x.shape, strict=True)
        )
        dummies.append(x if not is_lazy(x) and shape == x.shape else dummy(shape, x.dtype))
    with np.errstate(all="ignore"):
        try:
            return function(*put_in(args, dummies), **put_in(kwargs, dummies))
        except np.linalg.LinAlgError:  # of whole numbers that are all 0
            dummies = [
                np.broadcast_to(np.eye(*x.shape[-2:], dtype=x.dtype), x.shape) if x.ndim > 1 else x
                for x in dummies
            ]
            return function(*put_in(args, dummies), **put_in(kwargs, dummies))


def _identities(x: Any) -> Any:
    """Identity matrices in the place of others."""
    *_, rows, columns = x.shape
    return np.broadcast_to(np.eye(rows, columns, dtype=x.dtype), x.shape)


def _same(
    function: Any,
    args: Any,
    kwargs: Any,
    arrays: list[Any],
    labels: list[Labels],
    lengths: dict[int, int],
) -> tuple[list[Result], Any]:
    """The results of a pointwise function."""
    y = _trial(function, args, kwargs, arrays, labels, dict.fromkeys(lengths, 1))
    axes = tuple((name, lengths[name]) for name in sorted(lengths))
    found = [Result(np.asarray(part).dtype, axes) for part in parts_of(y)]
    return found, type(y) if isinstance(y, (tuple, list)) else None


def _tried(
    function: Any,
    args: Any,
    kwargs: Any,
    arrays: list[Any],
    labels: list[Labels],
    lengths: dict[int, int],
) -> tuple[list[Result], Any]:
    """The results of a function: its axes are found by trying it out twice, with other lengths of labelled axes."""
    long = [name for name, n in sorted(lengths.items()) if n != 1]
    core = max(
        [
            math.prod(n for name, n in zip(names, x.shape, strict=True) if name is None)
            for x, names in zip(arrays, labels, strict=True)
        ],
        default=0,
    )
    if core > TRIAL:
        raise UnsupportedArgumentError(
            f"what {public_name(function)} returns is found by a trial, which is too large for {core:,} numbers in one "
            "chunk: write tapemagic.distributed.map_blocks(f, x, dtype=...), which applies a function to each chunk"
        )
    y = _trial(function, args, kwargs, arrays, labels, lengths | dict.fromkeys(long, 1))
    kind: Any = type(y) if isinstance(y, (tuple, list)) else None
    if kind is not None and hasattr(kind, "_fields"):
        kind = kind._make
    if any(isinstance(part, (tuple, list)) for part in parts_of(y)):
        name = public_name(function)
        raise refusal(
            name,
            f"{name} gives nested lists, of which the parts cannot be computed later: {IN_MEMORY}",
        )
    if not long:
        return [_fixed(part) for part in parts_of(y)], kind
    other = {name: 2 + k for k, name in enumerate(long)}
    z = _trial(function, args, kwargs, arrays, labels, lengths | other)
    names = {length: name for name, length in other.items()}
    found = []
    for a, b in zip(map(_fixed, parts_of(y)), map(_fixed, parts_of(z)), strict=True):
        axes = []
        for (_, n), (_, m) in zip(a.axes, b.axes, strict=True):
            if n != m and (n != 1 or m not in names):
                raise UnsupportedArgumentError(
                    f"{public_name(function)} cannot be computed in chunks with these arguments: {IN_MEMORY}"
                )
            axes.append((None, n) if n == m else (names[m], lengths[names[m]]))
        result = Result(a.dtype, tuple(axes))
        if sorted(label for label, _ in axes if label is not None) != long:
            raise UnsupportedArgumentError(
                f"{public_name(function)} cannot be computed in chunks with these arguments: {IN_MEMORY}"
            )
        found.append(result)
    return found, kind


def _fixed(y: Any) -> Result:
    """The axes of an array, each of its own length."""
    y = np.asarray(y)
    return Result(y.dtype, tuple((None, n) for n in y.shape))
