"""Layout of the result of a function of blocks, from its arguments and the options of `map_blocks`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapemagic.distributed.blocks import BlockMap, Layout, Result, Sent, apply_to_blocks
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


def plan_blocks(
    f: Callable[..., Any],
    args: Sequence[Any],
    dtype: Any,
    chunks: Any,
    drop_axis: Any,
    new_axis: Any,
) -> Any:
    """Return the lazy tensor of `map_blocks`."""
    tensors = [x if isinstance(x, Traced) else argument(x, f, k) for k, x in enumerate(args)]
    if not any(is_lazy(x._value) for x in tensors):
        raise OptionError(
            f"map_blocks needs a lazy argument: write {name_of(f)}(...) for arrays in memory, or "
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
    return apply_to_blocks(*tensors, blocks=BlockMap(sent, grid, layouts, [result]))


def _on_grid(tensors: Sequence[Traced]) -> tuple[tuple[int, ...], list[Layout]]:
    """Return the numbers of blocks along each axis, and the layout of each argument on these blocks."""
    cuts = [x._value.chunks if is_lazy(x._value) else None for x in tensors]
    ndim = max(len(cut) for cut in cuts if cut is not None)
    grid = [1] * ndim
    rows: list[tuple[int, ...] | None] = [None] * ndim
    for k, cut in enumerate(cuts):
        for axis, lengths in zip(range(ndim - len(cut or ()), ndim), cut or (), strict=True):
            # An axis in one block broadcasts with any grid.
            if len(lengths) == 1:
                continue
            if rows[axis] not in {None, lengths}:
                raise ShapeError(
                    f"argument {k} of map_blocks is cut into {_shorten(lengths)} along an axis where another argument "
                    f"is cut into {_shorten(rows[axis])}: write {_ADVICE}"
                )
            rows[axis], grid[axis] = lengths, len(lengths)
    layouts = []
    for x, cut in zip(tensors, cuts, strict=True):
        if cut is None:
            layouts.append(Layout((), (None,) * x.ndim))
            continue
        layouts.append(Layout((), _grid_axes(cut, grid)))
    return tuple(grid), layouts


def _grid_axes(cut: tuple[tuple[int, ...], ...], grid: Sequence[int]) -> tuple[int | None, ...]:
    """Return for each axis of an argument the axis of the grid, or None if each block receives the whole axis."""
    axes = []
    for lengths, (axis, count) in zip(
        cut, list(enumerate(grid))[len(grid) - len(cut) :], strict=True
    ):
        if len(lengths) == 1 < count and lengths != (1,) and any(len(c) > 1 for c in cut):
            raise ShapeError(
                f"map_blocks received {lengths[0]} numbers in one block, and {count} blocks of another argument along "
                f"the same axis: write {_ADVICE}"
            )
        axes.append(axis if len(lengths) == count else None)
    return tuple(axes)


_ADVICE = (
    "x.rechunk(...) to cut them in the same way, and y[:, None] if y has fewer axes, because axes are "
    "counted from the last one"
)


def _shorten(lengths: Any) -> str:
    return str(lengths) if len(lengths) <= 6 else f"({', '.join(map(str, lengths[:5]))}, ...)"


def _axes(value: Any, option: str) -> list[int]:
    axes = [value] if isinstance(value, int) else value
    if not isinstance(axes, list | tuple) or not all(type(axis) is int for axis in axes):
        raise OptionError(f"{option} must be an axis, or a list of axes, not {shown(value)}")
    return list(axes)


def _result_axes(
    ndim: int, grid: Sequence[int], drop: Sequence[int], new: Sequence[int]
) -> list[int | None]:
    """Return for each axis of the result the axis of the grid, or None for a new axis."""
    for axis in drop:
        if not -ndim <= axis < ndim:
            raise OptionError(f"drop_axis={axis}, but the arguments have {ndim} axes")
        if grid[axis] > 1:
            raise OptionError(
                f"drop_axis={axis} is cut into {grid[axis]} blocks, and each would yield a result: write "
                f"x.rechunk({{{axis % ndim}: -1}}) first"
            )
    dropped = {axis % ndim for axis in drop}
    out: list[int | None] = [axis for axis in range(ndim) if axis not in dropped]
    # In rising order, so that each number counts the axes of the final result.
    for axis in sorted(new):
        if not 0 <= axis <= len(out):
            raise OptionError(
                f"new_axis={axis}, but the result has {len(out)} other axes: count from 0"
            )
        out.insert(axis, None)
    return out


def _explicit_chunks(chunks: Any, out: Sequence[int | None], grid: Sequence[int]) -> Chunks:
    """Return the lengths of the result's blocks from the option `chunks`."""
    if not isinstance(chunks, list | tuple) or len(chunks) != len(out):
        raise OptionError(
            f"chunks must have one entry for each of the {len(out)} axes of the result, not {shown(chunks)}"
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
                f"chunks has the entry {shown(entry)} for an axis of {count} blocks: write one length for all, or a "
                "tuple of lengths"
            )
        result.append(tuple(lengths))
    return result


def _broadcast_chunks(
    tensors: Sequence[Traced], layouts: Sequence[Layout], out: Sequence[int | None]
) -> Chunks:
    """Return the lengths of the result's blocks by broadcasting those of the arguments."""
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
                "write the lengths of the result's blocks as chunks="
            )
        result.append(longer.pop() if axis is not None else (1,))
    return result


def _trial_block(x: Traced) -> Tensor:
    """Return ones in the shape of a small block, with length 1 along the axes that are cut."""
    shape = [len(cut) > 1 or cut[0] for cut in x._value.chunks]
    large = math.prod(shape) > MAX_TRIAL_ELEMENTS
    return wrap(np.ones((1,) * x.ndim if large else list(map(int, shape)), x.dtype))


MAX_TRIAL_ELEMENTS = 1 << 16


def _dtype(f: Callable[..., Any], tensors: Sequence[Traced], dtype: Any) -> np.dtype[Any]:
    """Return the requested dtype of the result, or the dtype of `f` called with small blocks that contain 1."""
    # Ones, not zeros: functions such as log or 1 / x would warn. `f` runs even if a dtype is requested, because the
    # variables that it reads must be known.
    trial = [_trial_block(x) if is_lazy(x._value) else wrap(x._value) for x in tensors]
    requested = None if dtype is None else of_numbers(dtype)
    try:
        with silence(), recorded_reads() as reads, np.errstate(all="ignore"):
            trial_dtype = constant(f(*trial)).dtype
    except Exception as error:  # noqa: BLE001 (the function may raise anything)
        if requested is not None:
            return requested
        raise OptionError(
            f"{name_of(f)} failed for blocks of ones, which determine the dtype of the result: write "
            f"dtype='float64', or another dtype ({type(error).__name__}: {error})"
        ) from None
    # `f` runs later and elsewhere, so a tape sees only the arguments of map_blocks: the gradient of a variable that
    # `f` reads would silently be missing.
    for variable in captured_by(reads, []):
        if is_tracked([variable]):
            raise UnsupportedArgumentError(
                f"{name_of(f)} reads the variable {variable.name!r}, for which the tape would get no gradient: pass it "
                f"as an argument, map_blocks(f, x, w), or read only its value, w.numpy()"
            )
    return requested or trial_dtype
