"""The ways along which a target depends on a source, and the product of the local derivatives along each."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tapemagic.analysis.formatting import format_number, format_shape
from tapemagic.analysis.snapshot import Snapshot
from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import Record, silence
from tapemagic.engine.registry import no_derivative
from tapemagic.engine.tensor.tensor import id_of, unwrap

SHOWN = 12
"""How many paths are written out."""

WIDTH, LINES = 86, 3
"""How wide a path is written, and on how many lines."""

ENDS = 20
"""How many operations at each end of a path are written out, if there is room for them."""


@dataclass(frozen=True)
class Step:
    """One operation of a path.

    Attributes
    ----------
    operation : str
    result : str
        What the result is called; empty if it has no name.
    slope : str
        The local derivative: a number, or the shape of a matrix.
    value : float, complex or None
        The number, if it is one.
    """

    operation: str
    result: str
    slope: str
    value: complex | None

    def __str__(self) -> str:
        return f"{self.operation} = {self.result}" if self.result else self.operation


@dataclass(frozen=True)
class Path:
    """One way from a source to a target.

    Attributes
    ----------
    source : str
        What the source is called.
    steps : tuple of Step
        The operations from the source to the target; of a long path those at both ends.
    product : float, complex or None
        The path's contribution to the gradient: the product of the local derivatives, if all values on it are numbers.
    hidden : int
        The number of operations between the two ends that are left out of `steps`.
    """

    source: str
    steps: tuple[Step, ...]
    product: complex | None
    hidden: int = 0

    def __str__(self) -> str:
        total = self._total()
        for ends in range(ENDS, 0, -1):
            lines = _wrapped(self._text(ends) + total)
            if len(lines) <= LINES:
                break
        return "\n".join(lines)

    def _text(self, ends: int) -> str:
        """The operations and their slopes, so many at each end of the path."""
        hidden = len(self.steps) + self.hidden - 2 * ends
        cut = hidden > 1
        steps = (*self.steps[:ends], *self.steps[-ends:]) if cut else self.steps
        way, slopes = [*map(str, steps)], [step.slope for step in steps]
        if cut:
            way.insert(ends, f"… {hidden:,} more operations …")
            slopes.insert(ends, "…")
        return f"{' → '.join([self.source, *way])}:  {' · '.join(slopes[::-1]) or '1'}"

    def _total(self) -> str:
        """The product; of complex slopes the real part, where a real number became complex on the way."""
        if self.product is None:
            return ""
        values = [step.value for step in self.steps if step.value is not None]
        numbers = len(values) == len(self.steps) and np.iscomplexobj(values)
        halved = numbers and not np.isclose(np.prod(values), self.product, equal_nan=True)
        return f"{', its real part' * halved} = {format_number(self.product)}"


def _wrapped(text: str) -> list[str]:
    """A path in lines, which break after an arrow, a dot or the colon."""
    glued = text.replace(" ", "\xa0")
    for mark in ("→", "·", ":\xa0"):
        glued = glued.replace(f"{mark}\xa0", f"{mark} ")
    lines = textwrap.wrap(
        glued,
        WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\xa0", " ").rstrip() for line in lines]


def counted(ways: int) -> str:
    """How many ways there are; of very many the power of ten.

    Examples
    --------
    >>> counted(1234), counted(2**200)
    ('1,234', 'about 10^60')
    """
    return f"{ways:,}" if ways < 10**9 else f"about 10^{round(math.log10(ways))}"


@dataclass(frozen=True, eq=False)
class Edge:
    """A step back from the result of an operation, known by its number, to an input."""

    source: int
    record: Record
    position: int
    made: int

    @property
    def x(self) -> Any:
        """The input."""
        return self.record.values[self.position]

    @property
    def y(self) -> Any:
        """The result."""
        output, numbers = self.record.output, self.record.output_id
        return output[numbers.index(self.made)] if isinstance(numbers, tuple) else output

    @property
    def rule(self) -> Any:
        """The rule that passes a gradient along this step, once; None if there is none."""
        operation = self.record.operation
        if operation.joint_rule is no_derivative:
            return None
        return operation.rule_for(self.position)

    def has_derivative(self) -> bool:
        """Whether gradients pass; a function with a gradient of its own has to be asked."""
        if self.rule is None or "call" not in (self.record.params or {}):
            return self.rule is not None
        return self.passed(np.ones(self.y.shape, self.y.dtype)[()]) is not None

    def are_numbers(self) -> bool:
        """Whether the input and the result are numbers, and not arrays."""
        return not (self.x.ndim or self.y.ndim)

    def passed(self, g: Any) -> Any:
        """The gradient with respect to the input, of one with respect to the result, as in the reverse sweep."""
        _, values, _, params, output, numbers = self.record
        if isinstance(numbers, tuple):
            parts = zip(numbers, output, strict=True)
            g = tuple(g if i == self.made else np.zeros(y.shape, y.dtype)[()] for i, y in parts)
        return dense(self.rule(g, output, *values, **(params or {})))

    def pulled(self, g: Any) -> Any:
        """The same, of numbers."""
        passed = self.passed(self.y.dtype.type(g))
        return passed if isinstance(passed, np.generic) else np.sum(passed)

    @cached_property
    def value(self) -> complex | None:
        """The local derivative, if it is a number."""
        if not self.are_numbers():
            return None
        slope = self.pulled(1)
        if self.y.dtype.kind == "c" and not _close(self.pulled(1j), 1j * slope):
            return None
        return _given(slope)

    @property
    def slope(self) -> tuple[str, complex | None]:
        """The local derivative as text, and the number if it is one; else the shape of a matrix."""
        if not self.are_numbers():
            return f"[{_size(self.y)} by {_size(self.x)}]", None
        if self.value is None:
            turns = _close(self.pulled(1), 1) and _close(self.pulled(1j), -1j)
            return "conj" if turns else f"[2 by {2 if self.x.dtype.kind == 'c' else 1}]", None
        text = format_number(self.value)
        return f"({text})" if np.iscomplexobj(self.value) else text, self.value


class Chain(NamedTuple):
    """The end of a path, from some value on to the target; what paths have in common is kept once.

    Attributes
    ----------
    first : Edge
    rest : Chain or None
    length : int
    last : tuple of Edge
        Those at the target's end, `ENDS` at most.
    product : float or None
        Of the local derivatives, if all of them are real numbers.
    numbers : bool
        Whether all values are numbers.
    """

    first: Edge
    rest: Chain | None
    length: int
    last: tuple[Edge, ...]
    product: float | None
    numbers: bool


def _extended(chain: Chain | None, edge: Edge) -> Chain:
    """A chain with one more step in front."""
    numbers = edge.are_numbers() and (chain is None or chain.numbers)
    slope = edge.value if numbers else None
    product = None
    if slope is not None and not isinstance(slope, complex):
        before = 1.0 if chain is None else chain.product
        product = None if before is None else slope * before
    if chain is None:
        return Chain(edge, None, 1, (edge,), product, numbers)
    last = chain.last if chain.length >= ENDS else (edge, *chain.last)
    return Chain(edge, chain, chain.length + 1, last, product, numbers)


def _path(chain: Chain | None, source: str, target: Any, names: Mapping[int, str]) -> Path:
    """A path in words: whole if it is short or has complex slopes, else its two ends."""
    if chain is None:
        return Path(source, (), _given(target.dtype.type(1)) if not target.ndim else None)
    whole = chain.length <= 2 * ENDS or (chain.numbers and chain.product is None)
    first = list(_unrolled(chain, chain.length if whole else ENDS))
    product = _product(first, target) if whole else chain.product
    way = first if whole else [*first, *chain.last]
    steps = (Step(e.record.name, names.get(e.made, ""), *e.slope) for e in way)
    return Path(source, tuple(steps), product, chain.length - len(way))


def paths(
    snapshot: Snapshot, target: Any, source: Any, names: Mapping[int, str]
) -> tuple[tuple[Path, ...], int]:
    """The ways from a source to a target on which each operation has a derivative; and how many there are.

    Parameters
    ----------
    snapshot : Snapshot
        With the values of its records.
    target, source : Tensor or Variable
    names : mapping of int to str
        What to call values, by their numbers.

    Returns
    -------
    (tuple of Path, int)
        At most `SHOWN` of them, in the order of the tape.
    """
    start, goal = id_of(source), id_of(target)
    with silence():
        ways, edges = _edges(snapshot, start)
        found: list[Path] = []
        stack: list[tuple[Edge | None, Chain | None]] = [(None, None)] if ways[goal] else []
        while stack and len(found) < SHOWN:
            edge, rest = stack.pop()
            chain = None if edge is None else _extended(rest, edge)
            made = goal if edge is None else edge.source
            if made == start:
                found.append(_path(chain, names.get(start, "?"), unwrap(target), names))
                continue
            stack += [(edge, chain) for edge in reversed(edges[made])]
    return tuple(found), int(ways[goal])


def _edges(
    snapshot: Snapshot, start: int
) -> tuple[defaultdict[int, Decimal], defaultdict[int, list[Edge]]]:
    """The number of ways in which each value depends on the source, and the last steps of these ways.

    These numbers are kept to 28 digits: written out they may be as long as the recording.
    """
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
                    edges[out].append(edge if out == outputs[0] else replace(edge, made=out))
    return ways, edges


def _unrolled(chain: Chain | None, length: int) -> Iterator[Edge]:
    """The first steps of a chain."""
    while chain is not None and length:
        yield chain.first
        chain, length = chain.rest, length - 1


def _product(way: list[Edge], target: Any) -> complex | None:
    """The product of the local derivatives of a path, if all values on it are numbers."""
    if target.ndim or not all(edge.are_numbers() for edge in way):
        return None
    values = [value for edge in way if (value := edge.value) is not None]
    if len(values) == len(way) and not np.iscomplexobj(values):
        return float(np.prod(values))
    g = target.dtype.type(1)
    for edge in reversed(way):
        g = edge.pulled(g)
        if edge.x.dtype.kind != "c":
            g = g.real
    return _given(g)


def _given(g: Any) -> complex:
    """A number of the sweep as the tape gives it: conjugated, and without negative zeros."""
    value: complex = (np.conjugate(g) + g.dtype.type(0)).item()
    return value


def _close(a: Any, b: Any) -> bool:
    return bool(np.isclose(a, b, equal_nan=True))


def _size(x: Any) -> str:
    return format_shape(x.shape) if x.ndim else "1"
