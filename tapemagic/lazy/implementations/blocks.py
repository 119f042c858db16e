"""Run functions chunk by chunk: element by element, or along axes that are in one chunk.

The axes of each argument are labelled. Along a labelled axis the function does the same in every chunk; axes with the
same label are aligned and broadcast together. An axis labelled None must be in one chunk.
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
"""First index, in Dask's blockwise notation, of axes that only a result has, and of axes that only an argument has.

Labels count axes from the end, so they are small negative integers: the three ranges never overlap."""

MAX_TRIAL_SIZE = 1 << 20
"""Maximum number of elements on which a function is tried out to learn the shape and dtype of its result."""

IN_MEMORY = "write x.compute() first, or give the loss to tapemagic.distributed.value_and_grad"
"""Advice if nothing else helps."""

TRUSTED_PACKAGES = frozenset({"numpy", "scipy", "tapemagic"})
"""Packages whose functions may be tried out: they compute, and change nothing."""

MAX_INLINE_BYTES = 1 << 16
"""Maximum size in bytes of an array in memory that is named by a hash of its numbers.

A larger one gets a random name, because hashing would take longer than the task.
"""


class Slot:
    """Placeholder for an array among the arguments of a call.

    A plain integer would have the same Dask token as an argument with this value.
    """

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __dask_tokenize__(self) -> Any:
        return "slot", self.number

    def __reduce__(self) -> Any:
        return Slot, (self.number,)


def extract_arrays(value: Any, is_array_like: Callable[[Any], bool], arrays: list[Any]) -> Any:
    """Replace arrays in nested arguments by numbered slots, and append them to a list."""
    if is_array_like(value):
        arrays.append(value)
        return Slot(len(arrays) - 1)
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([extract_arrays(x, is_array_like, arrays) for x in value])
    if kind is dict:
        return {key: extract_arrays(x, is_array_like, arrays) for key, x in value.items()}
    return value


def insert_arrays(value: Any, arrays: Sequence[Any]) -> Any:
    """Replace the numbered slots in nested arguments by arrays."""
    kind = type(value)
    if kind is Slot:
        return arrays[value.number]
    if kind is tuple or kind is list:
        return kind([insert_arrays(x, arrays) for x in value])
    if kind is dict:
        return {key: insert_arrays(x, arrays) for key, x in value.items()}
    return value


class Task:
    """Function call whose arrays are passed in later."""

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
        """Call the function on the arrays of one chunk."""
        y = self.function(*insert_arrays(self.args, arrays), **insert_arrays(self.kwargs, arrays))
        if not self.may_be_complex and any(np.iscomplexobj(part) for part in parts_of(y)):
            raise UnsupportedArgumentError(
                f"{public_name(self.function)} gave complex numbers, which depends on the numbers of its lazy "
                "arguments: write np.astype(x, complex) before it, or x.compute()"
            )
        if self.shapes is not None:
            shapes = [np.shape(part) for part in parts_of(y)]
            if shapes != self.shapes:
                raise UnsupportedArgumentError(
                    f"{public_name(self.function)} gave shapes {shapes}, which depend on the numbers of its lazy "
                    f"arguments, and not {self.shapes}: write x.compute() before it"
                )
        return np.asarray(y)[()] if isinstance(y, (bool, int, float, complex)) else y

    def __reduce__(self) -> Any:
        return Task, (self.function, self.args, self.kwargs, self.shapes, self.may_be_complex)


class Part:
    """Pick one of several results of a task."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, y: Any) -> Any:
        """Return the result with this number."""
        return np.asarray(y[self.number])

    def __reduce__(self) -> Any:
        return Part, (self.number,)


class Result(NamedTuple):
    """A result before it is computed: its dtype, and for each axis a label, or its length."""

    dtype: Any
    axes: tuple[tuple[int | None, int], ...]


def parts_of(y: Any) -> list[Any]:
    """List the results of a function, whether it returns one or several."""
    return list(y) if isinstance(y, (tuple, list)) else [y]


def is_lazy(x: Any) -> bool:
    """Return True for a Dask array."""
    return isinstance(x, da.Array)


def is_array(x: Any) -> bool:
    """Return True for a NumPy or Dask array."""
    return isinstance(x, (da.Array, np.ndarray))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Normalize `axis` to nonnegative axes; like NumPy, accept 0 and -1 for a scalar."""
    if axis is None or (not ndim and axis in (0, -1)):
        return tuple(range(ndim))
    return normalize_axis_tuple(axis, ndim)


def right(ndim: int, core: Sequence[int] = ()) -> Labels:
    """Label axes by their distance from the end, except for the negative axes in `core`."""
    return tuple(None if axis in core else axis for axis in range(-ndim, 0))


def leading(ndim: int, core: int) -> Labels:
    """Label all axes except the last `core`, counted from the end."""
    return (*range(core - ndim, 0), *(None,) * min(core, ndim))


def pointwise(function: Any, args: Any, kwargs: Any) -> Any:
    """Run an element-wise function in each chunk."""
    # A list of arrays, as np.select takes one, stays a list: as a single array it would have one axis more.
    args = [np.asarray(x) if type(x) in (list, tuple) and not _has_lazy(x) else x for x in args]
    return blockwise(function, args, kwargs, lambda arrays: [right(x.ndim) for x in arrays], True)


def _has_lazy(x: Any) -> bool:
    return any(map(_has_lazy, x)) if isinstance(x, (list, tuple)) else is_array(x)


def on_single_chunk(function: Any, args: Any, kwargs: Any) -> Any:
    """Run a NumPy, SciPy or tapemagic function whose arrays are in one chunk each.

    Other functions are refused: trying one out on dummy numbers might have side effects.
    """
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    if home not in TRUSTED_PACKAGES and not isinstance(function, np.ufunc):
        raise UnsupportedArgumentError(
            f"{public_name(function)} cannot be recorded on lazy values: what it returns is not known before it is "
            "called. Write tapemagic.distributed.map_blocks(f, x), which applies a function to each chunk, or NumPy's "
            "functions instead"
        )
    return blockwise(function, args, kwargs, lambda arrays: [(None,) * x.ndim for x in arrays])


def blockwise(
    function: Any,
    args: Any,
    kwargs: Any,
    labelled: Callable[[list[Any]], list[Labels]],
    same: bool = False,
) -> Any:
    """Run a function that does the same in every chunk.

    Parameters
    ----------
    function : callable
        A function of NumPy arrays.
    args, kwargs : sequence, dict
        Its arguments, Dask arrays included.
    labelled : callable
        Returns the labels of the axes of each array among the arguments.
    same : bool
        Whether the labels are the axes of the results, as for element-wise functions.
    """
    arrays: list[Any] = []
    args = extract_arrays(tuple(args), is_array, arrays)
    kwargs = extract_arrays(kwargs, is_array, arrays)
    labels = labelled(arrays)
    # An axis of length 1 broadcasts, so it says nothing about the length of its label in a trial.
    if not same:
        short = {name for name, n in lengths_of(arrays, labels).items() if n == 1}
        labels = [tuple(None if name in short else name for name in names) for names in labels]
    arrays = [merge_empty_chunks(x, names) for x, names in zip(arrays, labels, strict=True)]
    for x, names in zip(arrays, labels, strict=True):
        require_one_chunk(public_name(function), x, names)
    lengths = lengths_of(arrays, labels)
    results, kind = (_pointwise_results if same else _results_by_trial)(
        function, args, kwargs, arrays, labels, lengths
    )
    fixed = None
    if not any(name is not None for names in labels for name in names):
        fixed = [tuple(length for _, length in result.axes) for result in results]
    # np.emath and eig return complex numbers for some real input only: a trial with dummy numbers cannot tell, so
    # each chunk checks.
    expected = any(result.dtype.kind in "cO" for result in results)
    task = Task(function, args, kwargs, fixed, expected)
    arrays = unify_chunks(arrays, labels)
    pairs = [
        part
        for x, names in zip(arrays, unique(labels), strict=True)
        for part in (x, names if is_lazy(x) else None)
    ]
    # By names instead of arrays: a Dask array's name already identifies its graph, which would take long to hash.
    token = tokenize(function, args, kwargs, [x.name if is_lazy(x) else x for x in arrays], labels)
    name = f"{getattr(function, '__name__', 'function').strip('_<>')}-{token}"
    if kind is None:
        return _single_result(task, name, pairs, results[0])
    loops = tuple(sorted({name for names in labels for name in names if name is not None}))
    return kind(_joint_results(task, name, pairs, results, loops))


def _single_result(task: Any, name: str, pairs: list[Any], result: Result) -> Any:
    """Build the Dask array of a single result."""
    index, new = _index(result)
    meta = np.empty((0,) * len(index), result.dtype)
    return without_fusion(
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


def without_fusion(y: Any, new_axes: dict[Any, int]) -> Any:
    """Keep Dask from fusing a result of ``da.blockwise`` that has a new axis of length 1 with later tasks.

    Dask 2026.8 confuses such an axis with the axis of an array that the result is broadcast with, and loses chunks.
    """
    return y.blocks[(slice(None),) * y.ndim] if 1 in new_axes.values() else y


def _joint_results(
    task: Any, name: str, pairs: list[Any], results: list[Result], loops: Any
) -> list[Any]:
    """Build the Dask arrays of several results that each chunk computes together."""
    # One task computes all results, as an array of tuples; each result picks its part from it.
    none = np.empty((0,) * len(loops), object)
    together = da.blockwise(
        task, loops, *pairs, name=name, concatenate=True, dtype=object, meta=none
    )
    return [
        _single_result(Part(k), f"part-{k}-{name}", [together, loops], result)
        for k, result in enumerate(results)
    ]


def _index(result: Result) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """Return the index of a result in Dask's notation, and the lengths of axes that no argument has."""
    index: list[Any] = []
    new = {}
    for k, (label, length) in enumerate(result.axes):
        index.append(NEW + k if label is None else label)
        if label is None:
            new[NEW + k] = length
    return tuple(index), new


def unique(labels: list[Labels]) -> list[tuple[Any, ...]]:
    """Replace each None among the labels by a unique label."""
    return [
        tuple(CORE * (k + 1) + axis if name is None else name for axis, name in enumerate(names))
        for k, names in enumerate(labels)
    ]


def lengths_of(arrays: list[Any], labels: list[Labels]) -> dict[int, int]:
    """Return the length of each label, after broadcasting."""
    lengths: dict[int, int] = {}
    for x, names in zip(arrays, labels, strict=True):
        for name, n in zip(names, x.shape, strict=True):
            if name is not None and lengths.get(name, 1) == 1:
                lengths[name] = n
            elif name is not None and n not in (1, lengths[name]):
                shapes = " ".join(str(tuple(map(int, array.shape))) for array in arrays)
                raise ValueError(f"operands could not be broadcast together with shapes {shapes}")
    return lengths


def unify_chunks(arrays: list[Any], labels: list[Labels]) -> list[Any]:
    """Split arrays in memory into the same chunks as the lazy arrays whose labels they share."""
    chunks: dict[Any, Any] = {}
    for x, names in zip(arrays, labels, strict=True):
        if is_lazy(x):
            for name, cut in zip(names, x.chunks, strict=True):
                # The finest cut wins; an axis of length 1 broadcasts, so its chunks say nothing.
                if name is not None and len(cut) > len(chunks.get(name, ())) and sum(cut) != 1:
                    chunks[name] = cut
    split = []
    lazy_labels = {
        name for x, names in zip(arrays, labels, strict=True) if is_lazy(x) for name in names
    }
    for x, names in zip(arrays, labels, strict=True):
        if not is_lazy(x) and any(
            name is not None and (n != 1 or name not in lazy_labels)
            for name, n in zip(names, x.shape, strict=True)
        ):
            cuts = tuple(
                chunks.get(name, (n,)) if n != 1 else (1,)
                for name, n in zip(names, x.shape, strict=True)
            )
            split.append(array_in_chunks(x, cuts))
        else:
            split.append(x)
    return split


def array_in_chunks(x: Any, chunks: Any) -> Any:
    """Convert an array in memory to a Dask array; broadcast arrays stay broadcast."""
    if x.size > 1 and any(n > 1 and not step for n, step in zip(x.shape, x.strides, strict=True)):
        small = x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides)]
        cuts = tuple((1,) if n == 1 else cut for n, cut in zip(small.shape, chunks, strict=True))
        return da.broadcast_to(
            array_in_chunks(np.ascontiguousarray(small), cuts), x.shape, chunks=chunks
        )
    return da.from_array(x, chunks=chunks, name=None if x.nbytes <= MAX_INLINE_BYTES else False)


def merge_empty_chunks(x: Any, names: Labels) -> Any:
    """Merge the chunks of an array without elements along its unlabelled axes."""
    if not is_lazy(x) or x.size:
        return x
    chunks = [
        (n,) if name is None else cut for n, name, cut in zip(x.shape, names, x.chunks, strict=True)
    ]
    return filled(x.shape, 0, x.dtype, tuple(chunks))


def filled(shape: tuple[int, ...], value: Any, dtype: Any, chunks: Any = "auto") -> Any:
    """Return a Dask array filled with one number.

    It gets a name here: to make one, Dask would pickle an internal function, which takes longer than everything else.
    """
    chunks = normalize_chunks(chunks, shape, dtype=dtype)
    name = f"full-{tokenize(shape, value, np.dtype(dtype), chunks)}"
    return da.full(shape, value, dtype=dtype, chunks=chunks, name=name)


def require_one_chunk(name: str, x: Any, names: Labels) -> None:
    """Raise an error if an array has several chunks along an axis that must be in one chunk."""
    if not is_lazy(x):
        return
    cut = [axis for axis, label in enumerate(names) if label is None and len(x.chunks[axis]) > 1]
    if cut:
        rechunking = ", ".join(f"{axis}: -1" for axis in cut)
        pieces = ", ".join(str(len(x.chunks[axis])) for axis in cut)
        raise refusal(
            name,
            f"{name} needs axis {', '.join(map(str, cut))} of shape {tuple(x.shape)} in one chunk, "
            f"and it is cut into {pieces}: write x.rechunk({{{rechunking}}}), if "
            "the chunks then still fit into memory, or give a loss that is a mean or a sum over rows to "
            "tapemagic.distributed.value_and_grad",
        )


def dummy(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return dummy numbers for which most functions are defined: a positive definite matrix, index 0, True."""
    # Zeros are valid indices for any length, and True keeps at least one element of a mask.
    if dtype.kind not in "fc":
        return np.zeros(shape, dtype) if dtype.kind in "iu" else np.ones(shape, dtype)
    if len(shape) < 2:
        # Inside (0, 1) and increasing: valid for log, arcsin, quantiles, and as the knots of np.interp.
        return np.linspace(0.25, 0.75, math.prod(shape), dtype=dtype).reshape(shape)
    *_, rows, columns = shape
    return np.broadcast_to((0.25 + 0.5 * np.eye(rows, columns)).astype(dtype), shape)


def _call_on_dummies(
    function: Any,
    args: Any,
    kwargs: Any,
    arrays: list[Any],
    labels: list[Labels],
    lengths: dict[int, int],
) -> Any:
    """Call a function on dummy arrays whose labelled axes have the given lengths."""
    dummies = []
    for x, names in zip(arrays, labels, strict=True):
        shape = tuple(
            n if name is None or n == 1 else lengths[name]
            for name, n in zip(names, x.shape, strict=True)
        )
        dummies.append(x if not is_lazy(x) and shape == x.shape else dummy(shape, x.dtype))
    with np.errstate(all="ignore"):
        try:
            return function(*insert_arrays(args, dummies), **insert_arrays(kwargs, dummies))
        except np.linalg.LinAlgError:  # the dummy for integers, zeros, is singular
            dummies = [
                np.broadcast_to(np.eye(*x.shape[-2:], dtype=x.dtype), x.shape) if x.ndim > 1 else x
                for x in dummies
            ]
            return function(*insert_arrays(args, dummies), **insert_arrays(kwargs, dummies))


def _identities(x: Any) -> Any:
    """Return identity matrices of the same shape."""
    *_, rows, columns = x.shape
    return np.broadcast_to(np.eye(rows, columns, dtype=x.dtype), x.shape)


def _pointwise_results(
    function: Any,
    args: Any,
    kwargs: Any,
    arrays: list[Any],
    labels: list[Labels],
    lengths: dict[int, int],
) -> tuple[list[Result], Any]:
    """Find the shapes and dtypes of the results of an element-wise function."""
    y = _call_on_dummies(function, args, kwargs, arrays, labels, dict.fromkeys(lengths, 1))
    axes = tuple((name, lengths[name]) for name in sorted(lengths))
    results = [Result(np.asarray(part).dtype, axes) for part in parts_of(y)]
    return results, type(y) if isinstance(y, (tuple, list)) else None


def _results_by_trial(
    function: Any,
    args: Any,
    kwargs: Any,
    arrays: list[Any],
    labels: list[Labels],
    lengths: dict[int, int],
) -> tuple[list[Result], Any]:
    """Find the shapes and dtypes of the results of a function from two trials.

    The second trial gives each labelled axis a different length: an axis of the result whose length changes belongs to
    the label with this length, and an axis whose length stays is the function's own.
    """
    long = [name for name, n in sorted(lengths.items()) if n != 1]
    # Unlabelled axes keep their full length in a trial, so their product is the size of the trial.
    core = max(
        [
            math.prod(n for name, n in zip(names, x.shape, strict=True) if name is None)
            for x, names in zip(arrays, labels, strict=True)
        ],
        default=0,
    )
    if core > MAX_TRIAL_SIZE:
        raise UnsupportedArgumentError(
            f"what {public_name(function)} returns is found by a trial, which is too large for {core:,} numbers in one "
            "chunk: write tapemagic.distributed.map_blocks(f, x, dtype=...), which applies a function to each chunk"
        )
    y = _call_on_dummies(function, args, kwargs, arrays, labels, lengths | dict.fromkeys(long, 1))
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
    # Lengths from 2, all different, since the first trial used 1 for all of them.
    trial_lengths = {name: 2 + k for k, name in enumerate(long)}
    z = _call_on_dummies(function, args, kwargs, arrays, labels, lengths | trial_lengths)
    names = {length: name for name, length in trial_lengths.items()}
    results = []
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
        results.append(result)
    return results, kind


def _fixed(y: Any) -> Result:
    """Return the dtype and the unlabelled axes of an array."""
    y = np.asarray(y)
    return Result(y.dtype, tuple((None, n) for n in y.shape))
