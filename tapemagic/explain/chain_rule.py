"""The paths along which a target depends on a source, and the product of the local derivatives along each."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import Record, silence
from tapemagic.engine.registry import no_derivative
from tapemagic.engine.tape.cotangents import ones
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.formatting import NOT_COMPUTED, format_number, format_shape
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.snapshot import Snapshot

SHOWN = 12
"""The largest number of paths that are written out."""

WIDTH, LINES = 86, 3
"""The width in which a path is written, and the number of lines."""

ENDS = 20
"""The number of operations at each end of a path that are written out, if there is room for them."""


@dataclass(frozen=True)
class Path:
    """One path from a source to a target: the operations, and the product of their local derivatives.

    Attributes
    ----------
    source : str
    steps : tuple of (str, str)
        The operations with the names of their results, and the local derivatives; of a long path those at both ends.
    product : float, complex or None
        The path's contribution to the gradient, if all values on it are numbers.
    hidden : int
        The number of operations between the two ends.
    takes_real_part : bool
        Whether the product is no longer that of the local derivatives, since a real number became complex.
    """

    source: str
    steps: tuple[tuple[str, str], ...]
    product: complex | None
    hidden: int = 0
    takes_real_part: bool = False

    def __str__(self) -> str:
        total = ""
        if self.product is not None:
            total = f"{', its real part' * self.takes_real_part} = {format_number(self.product)}"
        for ends in range(ENDS, 0, -1):
            lines = _wrapped(self._text(ends) + total)
            if len(lines) <= LINES:
                break
        return "\n".join(lines)

    def _text(self, ends: int) -> str:
        """The operations and the local derivatives, so many at each end of the path."""
        hidden = len(self.steps) + self.hidden - 2 * ends
        steps = [*self.steps]
        if hidden > 1:
            steps = [*steps[:ends], (f"… {hidden:,} more operations …", "…"), *steps[-ends:]]
        operations, slopes = [step[0] for step in steps], [step[1] for step in steps]
        return f"{' → '.join([self.source, *operations])}:  {' · '.join(slopes[::-1]) or '1'}"


def _wrapped(text: str) -> list[str]:
    """A path in lines, which break after an arrow, a dot or the colon."""
    glued = text.replace(" ", "\xa0")
    for mark in ("→", "·", ":\xa0"):
        glued = glued.replace(f"{mark}\xa0", f"{mark} ")
    lines = textwrap.wrap(
        glued, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\xa0", " ").rstrip() for line in lines]


def format_count(ways: int) -> str:
    """The number of paths; of very many the power of ten.

    Examples
    --------
    >>> format_count(1234), format_count(2**200)
    ('1,234', 'about 10^60')
    """
    return f"{ways:,}" if ways < 10**9 else f"about 10^{round(math.log10(ways))}"


@dataclass(frozen=True, eq=False)
class Edge:
    """The dependence of an operation's result, known by its id, on one of its inputs."""

    source: int
    record: Record
    position: int
    result_id: int

    @property
    def x(self) -> Any:
        """The input."""
        return self.record.values[self.position]

    @property
    def y(self) -> Any:
        """The result."""
        output, numbers = self.record.output, self.record.output_id
        return output[numbers.index(self.result_id)] if isinstance(numbers, tuple) else output

    @property
    def rule(self) -> Any:
        """The rule for the gradient with respect to the input; None if there is none."""
        operation = self.record.operation
        flat = operation.joint_rule is no_derivative
        return None if flat else operation.rule_for(self.position)

    def has_derivative(self) -> bool:
        """Whether gradients pass; a function with a gradient of its own has to be asked."""
        if self.rule is None or "call" not in (self.record.params or {}):
            return self.rule is not None
        return self.pull_back(ones(self.y)) is not None

    def are_numbers(self) -> bool:
        """Whether the input and the result are numbers that are known, and not arrays."""
        return not (self.x.ndim or self.y.ndim) and has_numbers(self.x) and has_numbers(self.y)

    def pull_back(self, g: Any) -> Any:
        """The gradient with respect to the input, of one with respect to the result, as in the reverse sweep."""
        _, values, _, params, output, numbers = self.record
        if isinstance(numbers, tuple):
            parts = zip(numbers, output, strict=True)
            g = tuple(
                g if i == self.result_id else np.zeros(y.shape, y.dtype)[()] for i, y in parts
            )
        return dense(self.rule(g, output, *values, **(params or {})))

    def pull_back_scalar(self, g: Any) -> Any:
        """The same, of numbers."""
        passed = self.pull_back(self.y.dtype.type(g))
        return passed if isinstance(passed, np.generic) else np.sum(passed)

    @cached_property
    def value(self) -> complex | None:
        """The local derivative, if it is a number."""
        if not self.are_numbers():
            return None
        slope = self.pull_back_scalar(1)
        if self.y.dtype.kind == "c" and not _close(self.pull_back_scalar(1j), 1j * slope):
            return None
        return _given(slope)

    @property
    def slope(self) -> str:
        """The local derivative as text: a number, or the shape of a matrix."""
        if not (self.x.ndim or self.y.ndim or self.are_numbers()):
            return NOT_COMPUTED
        if not self.are_numbers():
            return f"[{_size(self.y)} by {_size(self.x)}]"
        if self.value is None:
            turns = _close(self.pull_back_scalar(1), 1) and _close(self.pull_back_scalar(1j), -1j)
            return "conj" if turns else f"[2 by {2 if self.x.dtype.kind == 'c' else 1}]"
        text = format_number(self.value)
        return f"({text})" if np.iscomplexobj(self.value) else text


Chain = tuple[Edge, "Chain"] | None
"""The end of a path, from some value on to the target; what paths have in common is kept once."""


def paths(
    snapshot: Snapshot, target: Any, source: Any, names: Mapping[int, str]
) -> tuple[tuple[Path, ...], int]:
    """The paths from a source to a target on which each operation has a derivative, and their number.

    In the order of the tape; none of them where they are more than `SHOWN`. Values go by the `names` of their ids.
    """
    start, goal = id_of(source), id_of(target)
    with silence():
        ways, edges = _edges(snapshot, start)
        found: list[Path] = []
        stack: list[tuple[int, Chain]] = [(goal, None)] if 0 < ways[goal] <= SHOWN else []
        while stack:
            number, chain = stack.pop()
            if number == start:
                found.append(_path(chain, names.get(start, "?"), unwrap(target), names))
            else:
                stack += [(edge.source, (edge, chain)) for edge in reversed(edges[number])]
    return tuple(found), int(ways[goal])


def _path(chain: Chain, source: str, target: Any, names: Mapping[int, str]) -> Path:
    way: list[Edge] = []
    while chain is not None:
        edge, chain = chain
        way.append(edge)
    shown = way if len(way) <= 2 * ENDS else way[:ENDS] + way[-ENDS:]
    called = [(edge.record.name, names.get(edge.result_id, ""), edge.slope) for edge in shown]
    steps = [(f"{name} = {result}" if result else name, slope) for name, result, slope in called]
    product, real = _product(way, target)
    return Path(source, tuple(steps), product, len(way) - len(shown), real)


def _edges(
    snapshot: Snapshot, start: int
) -> tuple[defaultdict[int, Decimal], defaultdict[int, list[Edge]]]:
    """The number of paths from the source to each value, to 28 digits since it may be huge, and their last edges."""
    ways: defaultdict[int, Decimal] = defaultdict(Decimal, {start: Decimal(1)})
    edges: defaultdict[int, list[Edge]] = defaultdict(list)
    tracked = snapshot.tracked
    for plain in snapshot.records:
        if ways.keys().isdisjoint(plain[2]):
            continue
        record = Record._make(plain)
        outputs = record.output_id if isinstance(record.output_id, tuple) else (record.output_id,)
        for position, i in enumerate(record.ids):
            if i not in ways or tracked.get(i, math.inf) > outputs[0]:
                continue
            edge = Edge(i, record, position, outputs[0])
            if edge.has_derivative():
                for out in outputs:
                    ways[out] += ways[i]
                    edges[out].append(edge if out == outputs[0] else replace(edge, result_id=out))
    return ways, edges


def _product(way: list[Edge], target: Any) -> tuple[complex | None, bool]:
    """The product along a path of numbers as the sweep computes it, and whether that takes a real part on the way."""
    if target.ndim or not all(edge.are_numbers() for edge in way):
        return None, False
    values: list[Any] = [edge.value for edge in way]
    known = None not in values
    if known and not np.iscomplexobj([target, *values]):
        return float(math.prod(values)), False
    g = target.dtype.type(1)
    for edge in reversed(way):
        g = edge.pull_back_scalar(g)
        if edge.x.dtype.kind != "c":
            g = g.real
    product = _given(g)
    return product, bool(way) and known and not _close(math.prod(values), product)


def _given(g: Any) -> complex:
    """A number of the sweep as the tape gives it: conjugated, and without negative zeros."""
    value: complex = (np.conjugate(g) + g.dtype.type(0)).item()
    return value


def _close(a: Any, b: Any) -> bool:
    return bool(np.isclose(a, b, equal_nan=True))


def _size(x: Any) -> str:
    return format_shape(x.shape) if x.ndim else "1"
