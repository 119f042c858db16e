"""Reductions: sums and means as single ufunc calls, which NumPy's functions make internally."""

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
    """Replace ``np.sum(x, axis)`` by ``np.add.reduce(x, axis)``; similarly prod, max and min."""
    # This skips NumPy's Python wrappers, about 2 µs a call.
    parsed = _options(node)
    if parsed is None:
        return None
    x, options = parsed
    reduce = UFUNCS[node.function].reduce
    return rewriting.call(reduce, (x,), node.kind, node, **options)


def mean(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``np.mean(x, axis)`` by ``np.add.reduce(x, axis) / n``, which NumPy computes."""
    # For float32, NumPy divides by an integer in double precision. Rounded to single precision, that is the quotient in
    # single precision if the integer has at most 24 bits (Figueroa, "When is double rounding innocuous?", 1995).
    parsed = _options(node)
    if parsed is None:
        return None
    x, options = parsed
    count = x.kind.size // max(1, node.kind.size)
    if x.kind.dtype.char not in "fd" or x.kind.dtype != node.kind.dtype or not x.kind.size:
        return None
    if count >= 1 << 24:
        return None
    total = rewriting.call(np.add.reduce, (x,), node.kind, node, **options)
    return rewriting.call(np.divide, (total, float(count)), node.kind, node)


def _options(node: Node) -> tuple[Node, dict[str, Any]] | None:
    """Return the array that is reduced, with axis and keepdims, if the call has no other options."""
    if not 1 <= len(node.args) <= 2 or node.kind.__class__ is not Kind:
        return None
    x, *rest = node.args
    options = {"axis": rest[0]} if rest else {"axis": node.kwargs.get("axis")}
    kwargs = {key: value for key, value in node.kwargs.items() if key != "axis"}
    if not isinstance(x, Node) or x.kind.__class__ is not Kind or not x.kind.is_array:
        return None
    if kwargs.get("keepdims") is False:
        del kwargs["keepdims"]
    if set(kwargs) - {"keepdims"} or isinstance(kwargs.get("keepdims"), Node):
        return None
    return x, options | kwargs


def one_summand(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace a sum over axes of length 1 by a reshape."""
    # NumPy adds the elements to 0.0, which turns -0.0 into 0.0.
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
    """Drop ``keepdims=False``, the default of a reduction."""
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
