"""Reductions: sums and means by the one call that NumPy makes for them inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.passes.known_signs import never_negative_zero
from tapemagic.programs.passes.rewriting import Rewriting, Rules
from tapemagic.programs.program import Kind, Node
from tapemagic.programs.tracing.symbol import method

UFUNCS: dict[Any, Any] = {
    np.sum: np.add,
    np.prod: np.multiply,
    np.max: np.maximum,
    np.min: np.minimum,
}
UFUNCS |= {np.amax: np.maximum, np.amin: np.minimum}
UFUNCS |= {method("sum"): np.add, method("prod"): np.multiply}
UFUNCS |= {method("max"): np.maximum, method("min"): np.minimum}


def reduction(node: Node, rewriting: Rewriting) -> Node | None:
    """``np.sum(x, axis)`` is ``np.add.reduce(x, axis)``; and likewise for prod, max and min."""
    found = _options(node)
    if found is None:
        return None
    x, options = found
    reduce = UFUNCS[node.function].reduce
    return rewriting.call(reduce, (x,), node.kind, node, **options)


def mean(node: Node, rewriting: Rewriting) -> Node | None:
    """``np.mean(x, axis)`` is ``np.add.reduce(x, axis) / n``, as NumPy computes it.

    For float32, NumPy divides by an integer in double precision; rounded, that is the quotient in single precision as
    long as the integer has no more than 24 bits (Figueroa, "When is double rounding innocuous?", 1995).
    """
    found = _options(node)
    if found is None:
        return None
    x, options = found
    count = x.kind.size // max(1, node.kind.size)
    if x.kind.dtype.char not in "fd" or x.kind.dtype != node.kind.dtype or not x.kind.size:
        return None
    if count >= 1 << 24:
        return None
    total = rewriting.call(np.add.reduce, (x,), node.kind, node, **options)
    return rewriting.call(np.divide, (total, float(count)), node.kind, node)


def _options(node: Node) -> tuple[Node, dict[str, Any]] | None:
    """The array that is reduced, and the axis, keepdims and dtype; None if there are other options."""
    if not 1 <= len(node.args) <= 2 or node.kind.__class__ is not Kind:
        return None
    x, *rest = node.args
    options = {"axis": rest[0]} if rest else {"axis": node.kwargs.get("axis")}
    others = {key: value for key, value in node.kwargs.items() if key != "axis"}
    if not isinstance(x, Node) or x.kind.__class__ is not Kind or not x.kind.is_array:
        return None
    if others.get("keepdims") is False:
        del others["keepdims"]
    if set(others) - {"keepdims"} or isinstance(others.get("keepdims"), Node):
        return None
    return x, options | others


def one_summand(node: Node, rewriting: Rewriting) -> Node | None:
    """A sum over axes of length 1 is a reshape; NumPy adds it to 0.0, so the numbers must not be -0.0."""
    x = node.args[0]
    if len(node.args) != 1 or set(node.kwargs) - {"axis", "keepdims"}:
        return None
    if not isinstance(x, Node) or x.kind.__class__ is not Kind or not node.kind.is_array:
        return None
    if x.kind.dtype != node.kind.dtype or x.kind.size != node.kind.size or not x.kind.size:
        return None
    layouts = rewriting.layouts
    if not never_negative_zero(x) or not layouts.contiguous(x):
        return None
    if not layouts.would_be_contiguous(node):
        return None
    return rewriting.call(np.reshape, (x, node.kind.shape), node.kind, node)


def without_default(node: Node, rewriting: Rewriting) -> Node | None:
    """``keepdims=False`` is the default of a reduction."""
    if node.kwargs.get("keepdims") is not False:
        return None
    kwargs = {key: value for key, value in node.kwargs.items() if key != "keepdims"}
    return rewriting.call(node.function, node.args, node.kind, node, **kwargs)


RULES: Rules = {
    **{ufunc.reduce: (without_default,) for ufunc in UFUNCS.values()},
    np.add.reduce: (without_default, one_summand),
    np.mean: (mean,),
    method("mean"): (mean,),
    **dict.fromkeys(UFUNCS, (reduction,)),
}
