"""Shape rules: drop copies, casts, reshapes, transposes and broadcasts without effect, and merge successive calls."""

from __future__ import annotations

import operator

import numpy as np

from tapemagic.programs.passes.layout import has_order
from tapemagic.programs.passes.rewriting import Rewriting, Rules
from tapemagic.programs.program import Kind, Node
from tapemagic.programs.tracing.symbol import method


def number_of_array(node: Node, _rewriting: Rewriting) -> Node | None:
    """Replace ``x[()]`` by ``x`` for arrays with axes, and ``np.asarray(number)[()]`` by the number."""
    x, index = node.args
    if index.__class__ is not tuple or index or not isinstance(x, Node):
        return None
    if x.kind == node.kind:
        return x
    if x.function not in {np.copy, np.asarray} or len(x.args) != 1 or x.kwargs:
        return None
    inside = x.args[0]
    return inside if isinstance(inside, Node) and inside.kind == node.kind else None


def copied(node: Node, rewriting: Rewriting) -> Node | None:
    """Drop a copy, or a cast to the same dtype. No call of a program writes into its arguments."""
    x = node.args[0]
    if has_order(node) or node.kwargs.keys() - {"copy", "dtype", "order"}:
        return None
    if isinstance(x, Node) and x.kind == node.kind and _is_index_row(x):
        return x
    return rewriting.same(x, node)


def _is_index_row(x: Node) -> bool:
    """Return True if a value is a row of integers or bools, whose strides affect no result."""
    return len(x.kind.shape) == 1 and x.kind.dtype.kind in "biu"


def array(node: Node, _rewriting: Rewriting) -> Node | None:
    """Replace ``np.asarray(x)`` by ``x`` for an array."""
    x = node.args[0]
    if len(node.args) != 1 or node.kwargs or not isinstance(x, Node):
        return None
    return x if x.kind == node.kind and x.kind.is_array else None


def reshaped(node: Node, rewriting: Rewriting) -> Node | None:
    """Drop a reshape to the same shape, and the first of two successive reshapes."""
    x = node.args[0]
    if has_order(node) or node.kwargs or not isinstance(x, Node):
        return None
    if x.kind == node.kind and (node.function not in RAVELS or rewriting.layouts.contiguous(x)):
        return x  # NumPy gives a view with the same strides
    again = x.function in RESHAPES and not x.kwargs and not has_order(x)
    inner = x.args[0] if again else None
    if not isinstance(inner, Node) or not inner.kind.is_array:
        return None
    if not rewriting.layouts.contiguous(inner):
        return None
    return rewriting.call(np.reshape, (inner, node.kind.shape), node.kind, node)


def transposed(node: Node, rewriting: Rewriting) -> Node | None:
    """Merge two successive transposes, and drop a transpose without effect."""
    x = node.args[0]
    if not isinstance(x, Node) or x.kind.__class__ is not Kind or not x.kind.is_array:
        return None
    order = _order(node)
    if order is None:
        return None
    if order == tuple(range(len(order))):
        return x
    inner = _order(x) if x.function in TRANSPOSES else None
    if inner is None:
        return None
    both = tuple(inner[k] for k in order)
    base = x.args[0]
    if both == tuple(range(len(both))):
        return base  # type: ignore[no-any-return]
    return rewriting.call(np.transpose, (base, both), node.kind, node)


def _order(node: Node) -> tuple[int, ...] | None:
    """Return the order of axes of a transpose or a swap of axes, if it's known."""
    ndim = len(node.kind.shape)
    axes = list(node.args[1:])
    if node.function in {np.swapaxes, method("swapaxes")}:
        if node.kwargs or len(axes) != 2 or not all(isinstance(k, int) for k in axes):
            return None
        order = list(range(ndim))
        i, j = axes
        order[i], order[j] = order[j], order[i]
        return tuple(order)
    if set(node.kwargs) - {"axes"}:
        return None
    if "axes" in node.kwargs:
        axes = [node.kwargs["axes"]]
    if len(axes) == 1 and not isinstance(axes[0], int):
        axes = list(axes[0]) if axes[0] is not None else []
    if not axes:
        return tuple(range(ndim))[::-1]
    if len(axes) != ndim or not all(isinstance(k, int) for k in axes):
        return None
    return tuple(k % ndim for k in axes)


def broadcast(node: Node, rewriting: Rewriting) -> Node | None:
    """Drop a broadcast to the same shape, and the first of two successive broadcasts."""
    x = node.args[0]
    if len(node.args) != 2 or node.kwargs or not isinstance(x, Node):
        return None
    if x.kind == node.kind:
        return x
    if x.function is np.broadcast_to and len(x.args) == 2 and not x.kwargs:
        return rewriting.call(np.broadcast_to, (x.args[0], node.args[1]), node.kind, node)
    return None


RAVELS = frozenset({np.ravel, method("ravel")})
"""Functions that copy an array whose rows have gaps between their elements."""

RESHAPES = frozenset({np.reshape, method("reshape"), *RAVELS})
TRANSPOSES = frozenset({np.transpose, np.swapaxes, method("transpose"), method("swapaxes")})

RULES: Rules = {
    operator.getitem: (number_of_array,),
    np.copy: (copied,),
    method("copy"): (copied,),
    method("astype"): (copied,),
    np.asarray: (array,),
    np.broadcast_to: (broadcast,),
    **dict.fromkeys(RESHAPES, (reshaped,)),
    **dict.fromkeys(TRANSPOSES, (transposed,)),
}
