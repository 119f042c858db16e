"""Actions that move elements: indices, shapes, joins and cuts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.crosscheck.actions import action
from benchmarks.crosscheck.drafts import MOST, Draft, Impossible

INDEX = "getitem"
"""What square brackets need; every table has them."""


def part(d: Draft, n: int) -> Any:
    """What may stand between square brackets for an axis of length n."""
    start, stop = sorted(int(k) for k in d.rng.integers(0, n + 1, 2))
    step = d.one((1, 1, 2, -1, -2))
    kinds = [
        slice(start, None, step),
        slice(start, stop, step) if step > 0 else slice(stop, start or None, step),
        slice(None),
        int(d.rng.integers(-n, n)),
    ]
    return d.one(kinds)


@action(weight=3.0, anywhere=True)
def basic_index(d: Draft) -> int:
    """Numbers, slices in both directions, new axes, an ellipsis."""
    i = d.pick(lambda v: v.ndim > 0)
    shape = d.values[i].shape
    cut = int(d.rng.integers(0, len(shape) + 1))
    index = [part(d, n) for n in shape[:cut]]
    index += [...] if d.chance(0.5) else []
    if index and index[-1] is ... and cut < len(shape) and d.chance(0.5):
        index += [part(d, shape[-1])]
    if d.chance(0.2):
        index.insert(int(d.rng.integers(0, len(index) + 1)), None)
    return d.emit("item", i, index=tuple(index))


@action(weight=2.0, anywhere=True)
def gathering(d: Draft) -> int:
    """Arrays of numbers, which repeat, and masks."""
    i = d.pick(lambda v: v.ndim > 0)
    shape = d.values[i].shape
    kind = d.one(("rows", "pairs", "apart", "mask", "last"))
    count = int(d.rng.integers(1, 5))
    places = [d.rng.integers(-n, n, count) for n in shape]
    index: Any
    if kind == "rows":
        index = places[0]
    elif kind == "last":
        index = (..., d.rng.integers(0, shape[-1], (2, count)))
    elif kind == "mask":
        index = d.rng.random(shape[: int(d.rng.integers(1, len(shape) + 1))]) < 0.6
    elif kind == "pairs":
        index = tuple(places[:2])
    elif len(shape) > 2:
        index = (places[0], slice(None), places[2])
    else:
        raise Impossible
    return d.emit("item", i, index=index)


@action("take", "take_along_axis", weight=1.0, anywhere=True)
def taking(d: Draft) -> int:
    """Along an axis."""
    i = d.pick(lambda v: v.ndim > 0)
    axis = d.axis(i)
    shape = list(d.values[i].shape)
    n = shape[axis]
    if d.chance(0.5):
        return d.emit("take", i, indices=d.rng.integers(0, n, int(d.rng.integers(1, 4))), axis=axis)
    shape[axis] = int(d.rng.integers(1, 4))
    return d.emit("take_along_axis", i, indices=d.rng.integers(0, n, shape), axis=axis)


@action("concatenate", "stack", weight=2.0, anywhere=True)
def joined(d: Draft) -> int:
    """Values of one shape side by side, or one behind the other."""
    i = d.pick()
    v = d.values[i]
    alike = [i, *(d.pick(lambda w: w.shape == v.shape) for _ in range(int(d.rng.integers(1, 3))))]
    if v.ndim and d.chance(0.5):
        return d.emit("concatenate", *alike, axis=d.axis(i))
    return d.emit("stack", *alike, axis=d.one(range(-v.ndim - 1, v.ndim + 1)))


@action("vstack", "hstack", "dstack", "column_stack", weight=0.7, anywhere=True)
def piled(d: Draft) -> int:
    """Values of one shape joined along a fixed axis."""
    i = d.pick()
    shape = d.values[i].shape
    name = d.one(("vstack", "hstack", "dstack", "column_stack"))
    return d.emit(name, i, d.pick(lambda v: v.shape == shape), i)


@action("split", weight=1.0)
def cut(d: Draft) -> int:
    """Into parts, of which not all need be used."""
    i = d.pick(lambda v: v.ndim > 0 and max(v.shape) > 1)
    axis = int(np.argmax(d.values[i].shape))
    n = d.values[i].shape[axis]
    cuts = sorted({int(k) for k in d.rng.integers(1, n, 2)})
    several = d.emit("split", i, cuts=cuts, axis=axis)
    parts = [d.emit("part", several, k=k) for k in range(len(cuts) + 1) if k == 0 or d.chance(0.7)]
    return d.one(parts)


def layout(d: Draft, size: int) -> tuple[int, ...]:
    """A shape for so many elements."""
    shape: list[int] = []
    while size > 1 and len(shape) < 3 and d.chance(0.7):
        n = d.one([n for n in range(1, size + 1) if size % n == 0])
        shape.append(n)
        size //= n
    return (*shape, size)


@action("reshape", "ravel", "transpose", "swapaxes", "moveaxis", weight=3.0, anywhere=True)
def rearranged(d: Draft) -> int:
    """The same elements in another shape."""
    i = d.pick(lambda v: v.ndim > 0)
    v = d.values[i]
    name = d.one(("reshape", "ravel", "transpose", "swapaxes", "moveaxis"))
    if name == "reshape":
        order = d.one(("C", "C", "F"))
        return d.emit(name, i, shape=layout(d, v.size), order=order)
    if name == "ravel":
        return d.emit(name, i)
    if name == "transpose":
        return d.emit(name, i, axes=tuple(int(k) for k in d.rng.permutation(v.ndim)))
    ends = ("axis1", "axis2") if name == "swapaxes" else ("source", "destination")
    return d.emit(name, i, **{end: d.axis(i) for end in ends})


@action("expand_dims", "squeeze", "broadcast_to", weight=1.5, anywhere=True)
def stretched(d: Draft) -> int:
    """An axis of length one more or less, or repeated."""
    i = d.pick(lambda v: v.ndim < 4)
    shape = d.values[i].shape
    ones = [k for k, n in enumerate(shape) if n == 1]
    if ones and d.chance(0.5):
        return d.emit("squeeze", i, axis=d.one(ones))
    if d.chance(0.5):
        return d.emit("expand_dims", i, axis=d.one(range(-len(shape) - 1, len(shape) + 1)))
    longer = tuple(d.one((2, 3)) if n == 1 else n for n in shape)
    return d.emit("broadcast_to", i, shape=(d.one((1, 2, 3)), *longer))


@action("repeat", "tile", "roll", "flip", "rot90", weight=1.5, anywhere=True)
def repeated(d: Draft) -> int:
    """Elements repeated, or in another order."""
    i = d.pick(lambda v: v.ndim > 0)
    v = d.values[i]
    name = d.one(("repeat", "tile", "roll", "flip", "rot90"))
    params: dict[str, Any] = {"axis": d.axis(i)}
    if name == "repeat":
        each = tuple(int(k) for k in d.rng.integers(0, 3, v.shape[params["axis"]]))
        params["repeats"] = 2 if d.chance(0.5) or not any(each) else np.array(each)
    elif name == "tile":
        params = {"reps": d.one([(2,), (2, 1), (1, 2)])}
    elif name == "roll":
        params["shift"] = d.one((1, -2, 3))
    elif name == "rot90":
        if v.ndim < 2:
            raise Impossible
        params = {"k": d.one((1, 2, 3))}
    return d.emit(name, i, **params)


@action("pad", weight=0.7)
def padded(d: Draft) -> int:
    """With zeros, or with elements from the edge, mirrored or wrapped."""
    i = d.pick(lambda v: 0 < v.ndim < 3 and v.size < MOST // 3)
    mode = d.one(("constant", "edge", "reflect", "symmetric", "wrap"))
    longest = min(d.values[i].shape) - 1 if mode == "reflect" else min(d.values[i].shape)
    widths = d.rng.integers(0, min(longest, 2) + 1, (d.values[i].ndim, 2))
    return d.emit("pad", i, pad_width=tuple((int(a), int(b)) for a, b in widths), mode=mode)


@action("tril", "triu", "trace", "diagonal", weight=1.0, anywhere=True)
def diagonals(d: Draft) -> int:
    """Triangles, diagonals and traces."""
    i = d.pick(lambda v: v.ndim == 2)
    name = d.one(("tril", "triu", "trace", "diagonal"))
    key = "k" if name.startswith("tri") else "offset"
    return d.emit(name, i, **{key: d.one((-1, 0, 0, 1))})
