"""Shapes, axes and indices to draw from; numbers that follow from the shape alone.

What is hard about these functions is their shapes, so these are drawn, and shrink; the numbers only
have to be different from each other, so they come from a generator with a fixed seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

Shape = tuple[int, ...]
Draw = st.DrawFn

LENGTHS = (2, 1, 3, 4, 3, 2, 1, 0)
"""Of axes, the simplest first; some of them more often than others."""

KINDS = st.sampled_from([np.dtype("float64"), np.dtype("complex128")])


def shapes(least: int = 0, most: int = 4, shortest: int = 0) -> st.SearchStrategy[Shape]:
    """Shapes of at least and at most so many axes, none of which is shorter than `shortest`."""
    lengths = st.sampled_from([n for n in LENGTHS if n >= shortest])
    return st.lists(lengths, min_size=least, max_size=most).map(tuple)


def whole(like: Any, seed: int = 0) -> Any:
    """Small whole numbers, as floats or complex ones, of an array's shape, kind and layout in memory."""
    rng = np.random.default_rng([seed, *np.shape(like)])
    numbers = np.empty_like(like)
    numbers[...] = rng.integers(-4, 5, numbers.shape)
    if numbers.dtype.kind == "c":
        numbers.imag = rng.integers(-4, 5, numbers.shape)
    return numbers[()]


def arrays(shape: Any, seed: int = 0) -> st.SearchStrategy[Any]:
    """Small whole numbers in a shape, or one that is drawn, real or complex."""
    drawn = shape if isinstance(shape, st.SearchStrategy) else st.just(shape)
    return st.builds(lambda s, kind: whole(np.empty(s, kind), seed), drawn, KINDS)


def apart(shape: Shape, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Any:
    """Numbers in no order, any two of which are well apart, and none of which is zero."""
    size = math.prod(shape)
    places = np.random.default_rng([seed, *shape]).permutation(size)
    return (low + (high - low) * (places + 0.37 + 0.1 * seed) / (size or 1)).reshape(shape)[()]


# -- axes -----------------------------------------------------------------------------------------


def axis_of(ndim: int) -> st.SearchStrategy[int]:
    """An axis, counted from either end."""
    return st.integers(-ndim, ndim - 1)


def axes_of(ndim: int, least: int = 0) -> st.SearchStrategy[tuple[int, ...]]:
    """Several different axes in any order, each counted from either end."""
    several = st.lists(axis_of(ndim), unique_by=lambda axis: axis % ndim, min_size=least)
    return several.map(tuple) if ndim else st.just(())


def reduced_axes(ndim: int) -> st.SearchStrategy[Any]:
    """What a reduction takes for its `axis`: None, one, or a tuple of several."""
    one = [axis_of(ndim)] if ndim else []
    return st.one_of(st.none(), *one, axes_of(ndim))


def orders_of(ndim: int) -> st.SearchStrategy[tuple[int, ...]]:
    """All axes in some order, each counted from either end."""
    signs = st.lists(st.booleans(), min_size=ndim, max_size=ndim)
    return st.builds(
        lambda order, back: tuple(a - ndim * b for a, b in zip(order, back, strict=True)),
        st.permutations(range(ndim)),
        signs,
    )


@st.composite
def masks(draw: Draw, shape: Shape) -> Any:
    """Truth values of a shape."""
    size = math.prod(shape)
    flat = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return np.array(flat, bool).reshape(shape)


@st.composite
def smaller(draw: Draw, shape: Shape) -> Shape:
    """A shape that broadcasts to another: leading axes left out, others of length 1."""
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(1 if draw(st.integers(0, 3)) == 3 else n for n in kept)


def several_shapes(count: int, most: int = 4) -> st.SearchStrategy[tuple[Shape, ...]]:
    """Shapes that broadcast together."""
    drawn = hnp.mutually_broadcastable_shapes(
        num_shapes=count, max_dims=most, min_side=0, max_side=3
    )
    return drawn.map(lambda found: found.input_shapes)


# -- indices --------------------------------------------------------------------------------------


@st.composite
def indices(draw: Draw, shape: Shape) -> Any:
    """Any index that NumPy allows for a shape.

    Numbers, slices, arrays of numbers that broadcast and repeat, and masks over one axis or several,
    for the axes in front of an ellipsis and behind it; None and True anywhere.
    """
    start = draw(st.integers(0, len(shape)))
    stop = draw(st.integers(start, len(shape)))
    together = draw(shapes(most=2))
    front = draw(_parts(shape[:start], together))
    back = draw(_parts(shape[stop:], together))
    spelled = back or draw(st.booleans())
    parts = [*front, ..., *back] if spelled else front
    for extra in draw(st.lists(st.sampled_from([None, None, None, True]), max_size=2)):
        parts.insert(draw(st.integers(0, len(parts))), extra)
    return parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)


@st.composite
def _parts(draw: Draw, shape: Shape, together: Shape) -> list[Any]:
    """Parts of an index for these axes; its arrays broadcast to the shape `together`."""
    parts: list[Any] = []
    while shape:
        n = shape[0]
        kinds = ["slice", *(["number", "array", "array"] if n else []), "mask"]
        kind = draw(st.sampled_from(kinds))
        covered = 1
        if kind == "slice":
            parts.append(draw(_slices(n)))
        elif kind == "number":
            parts.append(draw(st.sampled_from([int, np.int64, np.array]))(draw(axis_of(n))))
        elif kind == "array":
            elements = hnp.arrays(np.intp, draw(smaller(together)), elements=axis_of(n))
            parts.append(draw(elements.map(_perhaps_list)))
        else:
            covered = draw(st.integers(1, len(shape)))
            size = math.prod(shape[:covered])
            counts = [k for k in range(size + 1) if _fits(k, together)]
            if not counts:
                continue
            parts.append(draw(_masks_of(shape[:covered], draw(st.sampled_from(counts)))))
        shape = shape[covered:]
    return parts


def _slices(n: int) -> st.SearchStrategy[slice]:
    """Slices of an axis, also beyond its ends, forwards and backwards."""
    ends = st.one_of(st.none(), st.integers(-n - 1, n + 1))
    return st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, -1, -2, 3, -3]))


def _perhaps_list(index: Any) -> Any:
    """Every second array as nested lists, unless it is empty: an empty list has no whole numbers."""
    return index.tolist() if index.size % 2 else index


@st.composite
def _masks_of(draw: Draw, shape: Shape, count: int) -> Any:
    """Masks that are true at `count` places."""
    mask = np.zeros(math.prod(shape), bool)
    mask[draw(st.permutations(range(mask.size)))[:count]] = True
    return mask.reshape(shape)


def _fits(count: int, together: Shape) -> bool:
    """Whether a mask that is true at `count` places broadcasts with arrays of the shape `together`."""
    return count in {1, *together[-1:]}
