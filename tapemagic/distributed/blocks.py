"""A function applied to the blocks of lazy arrays, as an operation that tapes record.

The gradient is such an operation itself: the function's own pullback, applied to the blocks of the inputs and of the
gradient. So there are derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.delayed import delayed
from dask.layers import ArrayBlockIdDep

from tapemagic.distributed.sending import Arrival, only_sent_variables, unpickled
from tapemagic.distributed.task import tensor_of
from tapemagic.engine.functions.arguments import name_of
from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.operations.selection import cast
from tapemagic.engine.recording import silence
from tapemagic.engine.registry import vjp_argnums
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.errors import ShapeError
from tapemagic.lazy.implementations.blocks import without_fusion
from tapemagic.lazy.implementations.table import implements

Chunks = tuple[tuple[int, ...], ...]


class Layout(NamedTuple):
    """The axes of an array, as they lie on the grid of blocks.

    Attributes
    ----------
    lead : tuple of int
        The axes of the grid for which the array has an axis in front, with one place for each block.
    axes : tuple of (int or None)
        For each further axis the axis of the grid along which it is cut, or None if it is in one piece.
    """

    lead: tuple[int, ...]
    axes: tuple[int | None, ...]

    @property
    def all(self) -> tuple[int | None, ...]:
        """All axes."""
        return (*self.lead, *self.axes)


class Result(NamedTuple):
    """One result of a function of blocks."""

    layout: Layout
    chunks: Chunks
    dtype: np.dtype[Any]


class BlockMap:
    """A function of blocks, with all that is known of its inputs and results before any is computed.

    Parameters
    ----------
    function : callable
        ``function(*tensors)`` gives a tuple of tensors, one for each result.
    grid : tuple of int
        The numbers of blocks along each axis.
    inputs : sequence of Layout
    results : sequence of Result
    """

    def __init__(
        self,
        function: Callable[..., Any],
        grid: tuple[int, ...],
        inputs: Sequence[Layout],
        results: Sequence[Result],
    ) -> None:
        self.function = function
        self.grid = grid
        self.inputs = tuple(inputs)
        self.results = tuple(results)

    def on_block(self, number: tuple[int, ...], *blocks: Any) -> tuple[Any, ...]:
        """The results for one block."""
        parts = [_without(x, layout.lead) for x, layout in zip(blocks, self.inputs, strict=True)]
        with silence():
            try:
                found = self.function(*map(tensor_of, parts))
            except Exception as error:
                error.add_note(f"{name_of(self.function)} was called on block {tuple(number)}.")
                raise
        return tuple(
            self._checked(y._value, result, number)
            for y, result in zip(found, self.results, strict=True)
        )

    def _checked(self, y: Any, result: Result, number: tuple[int, ...]) -> Any:
        place = [0 if axis is None else number[axis] for axis in result.layout.all]
        expected = tuple(cut[k] for cut, k in zip(result.chunks, place, strict=True))
        shape = (*(1,) * len(result.layout.lead), *np.shape(y))
        if shape != expected:
            advice = (
                "give the lengths of the blocks with chunks="
                if len(shape) == len(expected)
                else "name the axes that it removes with drop_axis=, and those that it adds with new_axis="
            )
            raise ShapeError(
                f"{name_of(self.function)} returned shape {np.shape(y)} for block {tuple(number)}, where "
                f"{expected[len(result.layout.lead) :]} was expected: {advice}"
            )
        return np.reshape(y, shape)

    def pullback(self, argnums: Sequence[int], inputs: Sequence[Any]) -> BlockMap:
        """The map of the gradients with respect to the inputs at some positions.

        Its inputs are the gradients of the results, and the inputs.
        """
        results = []
        for k in argnums:
            layout, x = self.inputs[k], inputs[k]
            spread = self.summed(k)
            chunks = getattr(x, "chunks", None) or tuple((n,) for n in np.shape(x))
            ahead = tuple((1,) * self.grid[axis] for axis in spread)
            lead = (*spread, *layout.lead)
            results.append(Result(Layout(lead, layout.axes), (*ahead, *chunks), x.dtype))
        layouts = [*(result.layout for result in self.results), *self.inputs]
        function = Pullback(self.function, tuple(argnums), len(self.results))
        return BlockMap(function, self.grid, layouts, results)

    def summed(self, k: int) -> tuple[int, ...]:
        """The axes of the grid over which the gradient of an input is the sum of those of all blocks."""
        own = self.inputs[k].all
        return tuple(axis for axis, n in enumerate(self.grid) if n > 1 and axis not in own)


def _without(x: Any, lead: tuple[int, ...]) -> Any:
    return np.reshape(x, np.shape(x)[len(lead) :]) if lead else x


class Sent:
    """A function with the values that all it refers to had when this was made: bytes until it is called.

    Parameters
    ----------
    name : str
    dtype : dtype
        That of the result, which is cast to it.
    content : bytes
        The function as bytes.
    """

    def __init__(self, name: str, dtype: Any, content: bytes) -> None:
        self.__name__ = name
        self.dtype = dtype
        self.content = content
        self._loaded: tuple[Any, Arrival] | None = None
        self._lock = Lock()

    def __call__(self, *tensors: Any) -> tuple[Tensor, ...]:
        """The result of the function, as the only one."""
        with self._lock:
            self._loaded = self._loaded or unpickled(self.content)
        function, arrival = self._loaded
        with only_sent_variables(function, arrival):
            y = constant(function(*tensors))
        return (y if y.dtype == self.dtype else cast(y, self.dtype),)

    def __reduce__(self) -> Any:
        return Sent, (self.__name__, self.dtype, self.content)


class Pullback:
    """The gradients of a function with respect to some arguments, of the gradients of its results and its arguments.

    Gradients are those of the reverse sweep: of complex values, conjugates of those that a tape gives.
    """

    def __init__(self, function: Any, argnums: tuple[int, ...], count: int) -> None:
        self.function = function
        self.argnums = argnums
        self.count = count
        self.__name__ = name_of(function)

    def __call__(self, *tensors: Any) -> tuple[Tensor, ...]:
        """The gradients, one for each argument at `argnums`."""
        gs, inputs = tensors[: self.count], list(tensors[self.count :])
        for k in self.argnums:
            inputs[k] = np.positive(inputs[k])  # another tensor, if one is given twice
        sources = [inputs[k] for k in self.argnums]
        with Tape() as tape:
            tape.watch(sources)
            results = self.function(*inputs)
        found = tape.gradient(list(results), sources, list(map(_conjugated, gs)), "zero")
        return tuple(map(_conjugated, found))


def _conjugated(g: Any) -> Any:
    return np.conjugate(g) if g.dtype.kind == "c" else g


@primitive
def mapped(*arrays: Any, blocks: BlockMap) -> Any:
    """The results of a function of blocks, the only one or several in a tuple; all of it is done by the gate."""
    raise NotImplementedError


@implements(mapped)
def _mapped(*arrays: Any, blocks: BlockMap) -> Any:
    """The results as Dask arrays."""
    name = f"map-blocks-{uuid4().hex}"
    sent = delayed(blocks, name=f"function-{name}", traverse=False)
    together, index = _together(name, sent, blocks, arrays)
    found = tuple(
        _picked(f"{name}-{k}", together, index, k, result)
        for k, result in enumerate(blocks.results)
    )
    return found if len(found) > 1 else found[0]


def _together(
    name: str, sent: Any, blocks: BlockMap, arrays: Sequence[Any]
) -> tuple[da.Array, Any]:
    """An array of objects, the results for each block together, and its index in Dask's notation."""
    count = len(blocks.grid)
    number = ArrayBlockIdDep(tuple((1,) * n for n in blocks.grid))
    operands: list[Any] = [sent, None, number, tuple(range(count))]
    for k, (x, layout) in enumerate(zip(arrays, blocks.inputs, strict=True)):
        if not isinstance(x, da.Array):
            operands += [delayed(x, name=f"input-{k}-{name}", traverse=False), None]
            continue
        index = []
        for axis in layout.all:
            index.append(count if axis is None else axis)
            count += axis is None
        operands += [x, tuple(index)]
    every = tuple(range(count))
    together = da.blockwise(
        BlockMap.on_block,
        every,
        *operands,
        name=name,
        align_arrays=False,
        concatenate=True,
        dtype=object,
        meta=np.empty((0,) * count, object),
    )
    return together, every


def _picked(name: str, together: da.Array, every: Any, k: int, result: Result) -> da.Array:
    """One of the results."""
    index: list[int] = []
    new: dict[int, int] = {}
    adjusted: dict[int, tuple[int, ...]] = {}
    for axis, cut in zip(result.layout.all, result.chunks, strict=True):
        if axis is None:
            index.append(len(every) + len(new))
            new[index[-1]] = cut[0]
        else:
            index.append(axis)
            adjusted[axis] = cut
    found = da.blockwise(
        _pick,
        tuple(index),
        together,
        every,
        number=k,
        name=name,
        new_axes=new,
        adjust_chunks=adjusted,
        align_arrays=False,
        dtype=result.dtype,
        meta=np.empty((0,) * len(index), result.dtype),
    )
    return without_fusion(found, new)


def _pick(found: Any, number: int) -> Any:
    """One result of a block; axes that it lacks have one block, and Dask gives lists of one."""
    while isinstance(found, list):
        (found,) = found
    return found[number]


def _gradients(argnums: Sequence[int], g: Any, y: Any, *inputs: Any, blocks: BlockMap) -> list[Any]:
    """The gradients of the inputs at some positions."""
    gs, ys = (g, y) if y.__class__ is tuple else ((g,), (y,))
    if gs[0].ndim > ys[0].ndim:
        rows = [
            _gradients(
                argnums, tuple(row) if y.__class__ is tuple else row[0], y, *inputs, blocks=blocks
            )
            for row in zip(*gs, strict=True)
        ]
        return [np.stack(column) for column in zip(*rows, strict=True)]
    found = mapped(*gs, *inputs, blocks=blocks.pullback(argnums, inputs))
    parts = found if found.__class__ is tuple else (found,)
    return [
        np.sum(part, axis=tuple(range(len(blocks.summed(k))))) if blocks.summed(k) else part
        for k, part in zip(argnums, parts, strict=True)
    ]


vjp_argnums(mapped, _gradients, name="map_blocks")
