"""Factors: successive constant factors become one factor, where this is exact.

Multiplying by a power of two of at least 1 is exact unless it overflows. So ``2 * (4 * x)`` is ``8 * x`` (both
overflow together), and ``c * (2 * x)`` is ``(2 * c) * x`` if x is known to be small, such as a sine. Other factors
aren't merged: ``0.001 * (2 * x)`` is infinite for ``x = 1e308``, and ``2 * (0.1 * x)`` rounds subnormal numbers.
Up to five equal summands add up to their exact multiple: the rounding of ``3 * x`` is too small to change ``4 * x``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.passes.identities import is_power_of_two
from tapemagic.programs.passes.known_numbers import PYTHON, number
from tapemagic.programs.passes.known_signs import largest
from tapemagic.programs.passes.rewriting import Rewriting, Rules, of_numbers
from tapemagic.programs.program import Constant, Kind, Node


@of_numbers
def merged(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``a * (b * x)`` by ``(a * b) * x`` if b is a power of two, and no product can overflow."""
    outer = scaled(node)
    inner = outer and scaled(outer[1])
    if not outer or not inner or outer[1].kind != node.kind:
        return None
    (a, _), (b, x) = outer, inner
    info = np.finfo(node.kind.dtype)
    product = a * b
    if not abs(b) >= 1 or not is_power_of_two(b) or not abs(product) < float(info.max) / 4:
        return None
    # Below a quarter of the largest number, no rounding leads to an overflow. If both factors are powers of two, the
    # products overflow for the same x.
    doubles = abs(a) >= 1 and is_power_of_two(a)
    if not doubles and not abs(b) * largest(x) < float(info.max) / 4:
        return None
    return _product(product, x, node, rewriting)


def ordered(node: Node, rewriting: Rewriting) -> Node | None:
    """Move the factor of ``(2 * y) * x`` to the value that is computed first, for small numbers."""
    # In this order, equal products become equal calls, which are merged.
    if not _is_product(node):
        return None
    for product, y in (node.args, node.args[::-1]):
        inner = scaled(product)
        if not inner or not isinstance(y, Node) or isinstance(y, Constant) or y.kind != node.kind:
            continue
        c, x = inner
        if rewriting.place(y) >= rewriting.place(x) or product.kind != node.kind:
            continue
        bound = float(np.finfo(node.kind.dtype).max) / 4
        if not abs(c) >= 1 or not is_power_of_two(c):
            continue
        if not abs(c) * largest(x) < bound or not abs(c) * largest(y) < bound:
            continue
        if rewriting.uses(product) > 1 and not rewriting.contains(np.multiply, (c, y)):
            continue
        factor = _product(c, y, node, rewriting)
        if factor is not None and rewriting.layouts.has_same_layout(factor, node):
            return rewriting.call(np.multiply, (factor, x), node.kind, node)
    return None


def negative(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``-(c * x)`` by ``(-c) * x``: a sign is never rounded."""
    inner = scaled(node.args[0])
    if not inner or node.kwargs or node.args[0].kind != node.kind:
        return None
    return _product(-inner[0], inner[1], node, rewriting)


@of_numbers
def of_negative(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``c * -x`` by ``(-c) * x``: a sign is never rounded."""
    outer = scaled(node)
    if not outer:
        return None
    c, x = outer
    if x.function is not np.negative or x.kwargs or x.args[0].__class__ is Constant:
        return None
    return _product(-c, x.args[0], node, rewriting)


def equal_summands(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x + x`` by ``2 * x``, and ``k * x + x`` by ``(k + 1) * x`` for k up to 4."""
    if len(node.args) != 2 or node.kwargs or not _is_real(node):
        return None
    for multiple, x in (node.args, node.args[::-1]):
        if not isinstance(x, Node) or isinstance(x, Constant) or x.kind != node.kind:
            continue
        if multiple is x:
            return _product(2.0, x, node, rewriting)
        inner = scaled(multiple)
        if inner and inner[1] is x and multiple.kind == node.kind and inner[0] in {2.0, 3.0, 4.0}:
            return _product(inner[0] + 1, x, node, rewriting)
    return None


def equal_subtrahends(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``-x - x`` by ``-2 * x``, and ``-k * x - x`` by ``-(k + 1) * x`` for k up to 4."""
    if len(node.args) != 2 or node.kwargs or not _is_real(node):
        return None
    multiple, x = node.args
    if not (isinstance(multiple, Node) and isinstance(x, Node)) or isinstance(x, Constant):
        return None
    if multiple.kind != node.kind or x.kind != node.kind:
        return None
    if multiple.function is np.negative and not multiple.kwargs and multiple.args[0] is x:
        return _product(-2.0, x, node, rewriting)
    inner = scaled(multiple)
    if inner and inner[1] is x and inner[0] in {-2.0, -3.0, -4.0}:
        return _product(inner[0] - 1, x, node, rewriting)
    return None


def scaled(node: Any) -> tuple[float, Node] | None:
    """Return the factor and the value of a product with a finite real number, if the kinds agree."""
    if not _is_product(node):
        return None
    for c, x in (node.args, node.args[::-1]):
        if c.__class__ not in PYTHON and c.__class__ is not Constant:
            continue
        if not isinstance(x, Node) or isinstance(x, Constant) or x.kind != node.kind:
            continue
        factor = number(c)
        if factor is None or isinstance(factor, complex) or factor == 0:
            continue
        exact = node.kind.dtype.type(factor)
        if np.isfinite(exact) and exact == factor:
            return float(exact), x
    return None


def _is_product(node: Any) -> bool:
    if not isinstance(node, Node) or node.function is not np.multiply:
        return False
    return len(node.args) == 2 and not node.kwargs and _is_real(node)


def _is_real(node: Node) -> bool:
    return node.kind.__class__ is Kind and node.kind.dtype.char in "efd"


def _product(c: float, x: Node, node: Node, rewriting: Rewriting) -> Node | None:
    """Return ``c * x`` as the replacement of a node, if it has the same dtype and layout."""
    factor = node.kind.dtype.type(c)
    if float(factor) != c or x.kind != node.kind:
        return None
    new = Node(np.multiply, (c, x), {}, node.kind)
    layouts = rewriting.layouts
    if not (layouts.would_be_contiguous(node) and layouts.would_be_contiguous(new)):
        return None
    return rewriting.call(np.multiply, new.args, node.kind, node)


RULES: Rules = {
    np.multiply: (of_negative, merged, ordered),
    np.negative: (negative,),
    np.add: (equal_summands,),
    np.subtract: (equal_subtrahends,),
}
