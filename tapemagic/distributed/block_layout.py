"""The cut of the result of a function of blocks, by its arguments and by what the user says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapemagic.distributed.blocks import BlockMap, Layout, Result, Sent, mapped
from tapemagic.distributed.sending import pickled
from tapemagic.engine.functions.arguments import argument, name_of
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import is_tracked
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor, Traced, wrap
from tapemagic.engine.tensor.variable_reads import captured_by, recorded_reads
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError

Chunks = list[tuple[int, ...]]


def planned(
    f: Callable[..., Any],
    args: Sequence[Any],
    dtype: Any,
    chunks: Any,
    drop_axis: Any,
    new_axis: Any,
) -> Any:
    """The lazy tensor that `map_blocks` returns."""
    tensors = [x if isinstance(x, Traced) else argument(x, f, k) for k, x in enumerate(args)]
    if not any(is_lazy(x._value) for x in tensors):
        raise OptionError(
            f"map_blocks was given no lazy argument: write {name_of(f)}(...) for arrays in memory, or "
            "tapemagic.constant(dask_array)"
        )
    grid, layouts = _on_grid(tensors)
    out = _result_axes(len(grid), grid, _axes(drop_axis, "drop_axis"), _axes(new_axis, "new_axis"))
    lengths = (
        _explicit_chunks(chunks, out, grid)
        if chunks is not None
        else _broadcast_chunks(tensors, layouts, out)
    )
    kind = _dtype(f, tensors, dtype)
    result = Result(Layout((), tuple(out)), tuple(lengths), kind)
    sent = Sent(name_of(f), kind, pickled(f, f))
    return mapped(*tensors, blocks=BlockMap(sent, grid, layouts, [result]))


def _on_grid(tensors: Sequence[Traced]) -> tuple[tuple[int, ...], list[Layout]]:
    """The numbers of blocks along each axis, and how each argument lies on them."""
    cuts = [x._value.chunks if is_lazy(x._value) else None for x in tensors]
    ndim = max(len(cut) for cut in cuts if cut is not None)
    grid = [1] * ndim
    rows: list[tuple[int, ...] | None] = [None] * ndim
    for k, cut in enumerate(cuts):
        for axis, lengths in zip(range(ndim - len(cut or ()), ndim), cut or (), strict=True):
            if len(lengths) == 1:
                continue
            if rows[axis] not in {None, lengths}:
                raise ShapeError(
                    f"argument {k} of map_blocks is cut into {_short(lengths)} along an axis where another one is cut "
                    f"into {_short(rows[axis])}: write {_ADVICE}"
                )
            rows[axis], grid[axis] = lengths, len(lengths)
    layouts = []
    for x, cut in zip(tensors, cuts, strict=True):
        if cut is None:
            layouts.append(Layout((), (None,) * x.ndim))
            continue
        layouts.append(Layout((), _own_axes(cut, grid)))
    return tuple(grid), layouts


def _own_axes(cut: tuple[tuple[int, ...], ...], grid: Sequence[int]) -> tuple[int | None, ...]:
    """For each axis of an argument that of the grid, or None where each block is given all of it."""
    axes = []
    for lengths, (axis, count) in zip(
        cut, list(enumerate(grid))[len(grid) - len(cut) :], strict=True
    ):
        if len(lengths) == 1 < count and lengths != (1,) and any(len(c) > 1 for c in cut):
            raise ShapeError(
                f"map_blocks was given {lengths[0]} numbers in one block beside {count} blocks of another argument "
                f"along the same axis: write {_ADVICE}"
            )
        axes.append(axis if len(lengths) == count else None)
    return tuple(axes)


_ADVICE = (
    "x.rechunk(...) to cut them alike, and y[:, None] if y has fewer axes, since axes are counted from "
    "the last one"
)


def _short(lengths: Any) -> str:
    return str(lengths) if len(lengths) <= 6 else f"({', '.join(map(str, lengths[:5]))}, ...)"


def _axes(value: Any, option: str) -> list[int]:
    axes = [value] if isinstance(value, int) else value
    if not isinstance(axes, list | tuple) or not all(type(axis) is int for axis in axes):
        raise OptionError(f"{option} is an axis, or a list of axes, not {shown(value)}")
    return list(axes)


def _result_axes(
    ndim: int, grid: Sequence[int], drop: Sequence[int], new: Sequence[int]
) -> list[int | None]:
    """For each axis of the result the axis of the grid, or None for a new one."""
    for axis in drop:
        if not -ndim <= axis < ndim:
            raise OptionError(f"drop_axis={axis}, but the arguments have {ndim} axes")
        if grid[axis] > 1:
            raise OptionError(
                f"drop_axis={axis} is cut into {grid[axis]} blocks, of which each would give a result: write "
                f"x.rechunk({{{axis % ndim}: -1}}) first"
            )
    dropped = {axis % ndim for axis in drop}
    out: list[int | None] = [axis for axis in range(ndim) if axis not in dropped]
    for axis in sorted(new):
        if not 0 <= axis <= len(out):
            raise OptionError(
                f"new_axis={axis}, but the result has {len(out)} other axes: count from 0"
            )
        out.insert(axis, None)
    return out


def _explicit_chunks(chunks: Any, out: Sequence[int | None], grid: Sequence[int]) -> Chunks:
    """The lengths of the result's blocks as the user gives them."""
    if not isinstance(chunks, list | tuple) or len(chunks) != len(out):
        raise OptionError(
            f"chunks has one entry for each of the {len(out)} axes of the result, not {shown(chunks)}"
        )
    result = []
    for entry, axis in zip(chunks, out, strict=True):
        count = 1 if axis is None else grid[axis]
        lengths = (entry,) * count if type(entry) is int else entry
        is_valid = isinstance(lengths, list | tuple) and all(
            type(n) is int and n >= 0 for n in lengths
        )
        if is_valid and any(lengths):  # a lazy array has no empty blocks
            lengths = tuple(filter(None, lengths))
        if not is_valid or len(lengths) != count:
            raise OptionError(
                f"chunks has the entry {shown(entry)} for an axis of {count} blocks: give their one length, or a "
                "tuple of lengths"
            )
        result.append(tuple(lengths))
    return result


def _broadcast_chunks(
    tensors: Sequence[Traced], layouts: Sequence[Layout], out: Sequence[int | None]
) -> Chunks:
    """The lengths of the result's blocks: those of the arguments, broadcast."""
    result = []
    for axis in out:
        cuts = {
            cut
            for x, layout in zip(tensors, layouts, strict=True)
            if is_lazy(x._value)
            for own, cut in zip(layout.axes, x._value.chunks, strict=True)
            if own == axis
        }
        longer = cuts - {(1,)} or {(1,)}
        if len(longer) > 1:
            raise OptionError(
                f"the arguments have the lengths {', '.join(str(cut[0]) for cut in sorted(longer))} along one axis: "
                "give the lengths of the result's blocks with chunks="
            )
        result.append(longer.pop() if axis is not None else (1,))
    return result


def _small(x: Traced) -> Tensor:
    """Ones in the shape of a block that has the length 1 along the axes that are cut, and along all if it is large."""
    shape = [len(cut) > 1 or cut[0] for cut in x._value.chunks]
    large = math.prod(shape) > _LARGE
    return wrap(np.ones((1,) * x.ndim if large else list(map(int, shape)), x.dtype))


_LARGE = 1 << 16


def _dtype(f: Callable[..., Any], tensors: Sequence[Traced], dtype: Any) -> np.dtype[Any]:
    """The dtype of the result: as given, or as `f` gives it for blocks of ones."""
    trial = [_small(x) if is_lazy(x._value) else wrap(x._value) for x in tensors]
    requested = None if dtype is None else of_numbers(dtype)
    try:
        with silence(), recorded_reads() as reads, np.errstate(all="ignore"):
            trial_dtype = constant(f(*trial)).dtype
    except Exception as error:  # noqa: BLE001 (whatever the user's function raises)
        if requested is not None:
            return requested
        raise OptionError(
            f"{name_of(f)} failed for blocks of ones, by which the dtype of the result is found: give "
            f"dtype='float64', or which it is ({type(error).__name__}: {error})"
        ) from None
    for variable in captured_by(reads, []):
        if is_tracked([variable]):
            raise UnsupportedArgumentError(
                f"{name_of(f)} reads the variable {variable.name!r}, of which the tape would get no gradient: give it "
                f"as an argument, map_blocks(f, x, w), or its value alone, w.numpy()"
            )
    return requested or trial_dtype
