"""Functions applied to the blocks of lazy arrays, as an operation that tapes record.

The gradient is such an operation, too: the pullback of the function, applied to the blocks of the inputs and of the
incoming gradient. So there are derivatives of any order.
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
    """Position of the axes of an array on the grid of blocks.

    - `lead`: Axes of the grid for which the array has a leading axis with one element for each block.
    - `axes`: Tuple of (int or None). For each further axis the axis of the grid along which it's cut, or None if it's
      in one piece.
    """

    lead: tuple[int, ...]
    axes: tuple[int | None, ...]

    @property
    def all(self) -> tuple[int | None, ...]:
        """The leading and further axes."""
        return (*self.lead, *self.axes)


class Result(NamedTuple):
    """Layout, block lengths and dtype of one result of a function of blocks."""

    layout: Layout
    chunks: Chunks
    dtype: np.dtype[Any]


class BlockMap:
    """A function of blocks, with the layouts of its inputs and results, which are known before the computation.

    - `function`: ``function(*tensors)`` returns a tuple of tensors, one for each result.
    - `grid`: The numbers of blocks along each axis.
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
        """Compute the results for one block."""
        parts = [_without(x, layout.lead) for x, layout in zip(blocks, self.inputs, strict=True)]
        with silence():
            try:
                results = self.function(*map(tensor_of, parts))
            except Exception as error:
                error.add_note(f"{name_of(self.function)} was called on block {tuple(number)}.")
                raise
        return tuple(
            self._checked(y._value, result, number)
            for y, result in zip(results, self.results, strict=True)
        )

    # Dask doesn't compare the shapes of blocks with the promised chunks: a wrong block would show up much later, as an
    # error without the function's name, or as wrong numbers.
    def _checked(self, y: Any, result: Result, number: tuple[int, ...]) -> Any:
        place = [0 if axis is None else number[axis] for axis in result.layout.all]
        expected = tuple(cut[k] for cut, k in zip(result.chunks, place, strict=True))
        shape = (*(1,) * len(result.layout.lead), *np.shape(y))
        if shape != expected:
            advice = (
                "write the lengths of the blocks as chunks="
                if len(shape) == len(expected)
                else "write the axes that it removes as drop_axis=, and the axes that it adds as new_axis="
            )
            raise ShapeError(
                f"{name_of(self.function)} returned shape {np.shape(y)} for block {tuple(number)}, where "
                f"{expected[len(result.layout.lead) :]} was expected: {advice}"
            )
        return np.reshape(y, shape)

    def pullback(self, argnums: Sequence[int], inputs: Sequence[Any]) -> BlockMap:
        """Return the map that computes the gradients of the inputs at some positions.

        Its inputs are the gradients of the results, and the original inputs.
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
        """Return the axes of the grid over which the gradient of an input must be summed."""
        # An input that isn't cut along an axis of the grid is used by all blocks there, so their gradients add up.
        own = self.inputs[k].all
        return tuple(axis for axis, n in enumerate(self.grid) if n > 1 and axis not in own)


def _without(x: Any, lead: tuple[int, ...]) -> Any:
    return np.reshape(x, np.shape(x)[len(lead) :]) if lead else x


class Sent:
    """A pickled function, which is loaded at its first call.

    Everything that the function refers to keeps its value from the time of pickling. Its result is cast to `dtype`.
    """

    def __init__(self, name: str, dtype: Any, content: bytes) -> None:
        self.__name__ = name
        self.dtype = dtype
        self.content = content
        self._loaded: tuple[Any, Arrival] | None = None
        self._lock = Lock()

    def __call__(self, *tensors: Any) -> tuple[Tensor, ...]:
        """Return the result of the function in a tuple."""
        # Dask's threads may call one object at the same time, and unpickling creates variables.
        with self._lock:
            self._loaded = self._loaded or unpickled(self.content)
        function, arrival = self._loaded
        with only_sent_variables(function, arrival):
            y = constant(function(*tensors))
        return (y if y.dtype == self.dtype else cast(y, self.dtype),)

    def __reduce__(self) -> Any:
        return Sent, (self.__name__, self.dtype, self.content)


class Pullback:
    """Function that maps gradients of results, and arguments, to gradients of some arguments."""

    # Inside the reverse sweep, gradients of complex values are conjugates of those that a tape returns.

    def __init__(self, function: Any, argnums: tuple[int, ...], count: int) -> None:
        self.function = function
        self.argnums = argnums
        self.count = count
        self.__name__ = name_of(function)

    def __call__(self, *tensors: Any) -> tuple[Tensor, ...]:
        """Return the gradients, one for each argument at `argnums`."""
        gs, inputs = tensors[: self.count], list(tensors[self.count :])
        for k in self.argnums:
            inputs[k] = np.positive(
                inputs[k]
            )  # a new tensor, so that one passed twice is two sources
        sources = [inputs[k] for k in self.argnums]
        with Tape() as tape:
            tape.watch(sources)
            results = self.function(*inputs)
        gradients = tape.gradient(list(results), sources, list(map(_conjugated, gs)), "zero")
        return tuple(map(_conjugated, gradients))


def _conjugated(g: Any) -> Any:
    return np.conjugate(g) if g.dtype.kind == "c" else g


@primitive
def apply_to_blocks(*arrays: Any, blocks: BlockMap) -> Any:
    """Apply a function of blocks, as the Dask backend does, and return its only result or a tuple."""
    raise NotImplementedError


@implements(apply_to_blocks)
def _apply_to_dask(*arrays: Any, blocks: BlockMap) -> Any:
    """Return the results as Dask arrays."""
    name = f"map-blocks-{uuid4().hex}"
    sent = delayed(blocks, name=f"function-{name}", traverse=False)
    together, index = _blockwise_results(name, sent, blocks, arrays)
    results = tuple(
        _select_result(f"{name}-{k}", together, index, k, result)
        for k, result in enumerate(blocks.results)
    )
    return results if len(results) > 1 else results[0]


def _blockwise_results(
    name: str, sent: Any, blocks: BlockMap, arrays: Sequence[Any]
) -> tuple[da.Array, Any]:
    """Return a Dask array whose elements are the tuples of results for each block, and its blockwise index."""
    # Dask's blockwise has one output, but a function of blocks may have several results: one array of tuples is
    # computed, from which each result is selected, so that the function runs once per block.
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


def _select_result(name: str, together: da.Array, every: Any, k: int, result: Result) -> da.Array:
    """Return one of the results as a Dask array."""
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
    picked = da.blockwise(
        _select_from_block,
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
    return without_fusion(picked, new)


def _select_from_block(results: Any, number: int) -> Any:
    """Return one result of a block."""
    # Axes that the result lacks have one block, and blockwise passes contracted axes as nested lists.
    while isinstance(results, list):
        (results,) = results
    return results[number]


def _gradients(argnums: Sequence[int], g: Any, y: Any, *inputs: Any, blocks: BlockMap) -> list[Any]:
    """Return the gradients of the inputs at some positions, for the reverse sweep."""
    gs, ys = (g, y) if y.__class__ is tuple else ((g,), (y,))
    # A Jacobian: the gradients have a leading axis for its rows, which are computed one by one.
    if gs[0].ndim > ys[0].ndim:
        rows = [
            _gradients(
                argnums, tuple(row) if y.__class__ is tuple else row[0], y, *inputs, blocks=blocks
            )
            for row in zip(*gs, strict=True)
        ]
        return [np.stack(column) for column in zip(*rows, strict=True)]
    gradients = apply_to_blocks(*gs, *inputs, blocks=blocks.pullback(argnums, inputs))
    parts = gradients if gradients.__class__ is tuple else (gradients,)
    return [
        np.sum(part, axis=tuple(range(len(blocks.summed(k))))) if blocks.summed(k) else part
        for k, part in zip(argnums, parts, strict=True)
    ]


vjp_argnums(apply_to_blocks, _gradients, name="map_blocks")
