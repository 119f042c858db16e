"""Find the paths from a source to a target, and multiply the local derivatives along each."""

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
from tapemagic.explain.formatting import NOT_COMPUTED, format_number, format_shape, relation
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.snapshot import Snapshot

SHOWN = 12
"""Maximum number of paths to write out."""

WIDTH, LINES = 86, 3
"""Maximum width and number of lines of one path."""

ENDS = 20
"""Maximum number of operations to write out at each end of a path."""


@dataclass(frozen=True)
class Path:
    """A path from a source to a target: the operations, and the product of their local derivatives.

    - `steps`: Tuple of (str, str). The operations with the names of their results, and the local derivatives. A long
      path has only both ends.
    - `product`: Float, complex or None. The path's contribution to the gradient, if all values along it are numbers.
    - `hidden`: The number of operations between the two ends.
    - `takes_real_part`: True if the contribution is the real part of the product, because a real number became complex.
    """

    source: str
    steps: tuple[tuple[str, str], ...]
    product: complex | None
    hidden: int = 0
    takes_real_part: bool = False

    def __str__(self) -> str:
        total = ""
        if self.product is not None:
            value = format_number(self.product)
            sign = relation(" · ".join(f"({slope})" for _, slope in self.steps), value)
            # The factors in the middle of a long path aren't written.
            sign = "=" if self.takes_real_part or self.hidden else sign
            total = f"{', its real part' * self.takes_real_part} {sign} {value}"
        # Shorten both ends until the path fits into LINES lines.
        for ends in range(ENDS, 0, -1):
            lines = _wrapped(self._text(ends) + total)
            if len(lines) <= LINES:
                break
        return "\n".join(lines)

    def _text(self, ends: int) -> str:
        """Return the operations and the local derivatives, `ends` of them at each end of the path."""
        hidden = len(self.steps) + self.hidden - 2 * ends
        steps = [*self.steps]
        if hidden > 1:
            steps = [*steps[:ends], (f"… {hidden:,} more operations …", "…"), *steps[-ends:]]
        operations, slopes = [step[0] for step in steps], [step[1] for step in steps]
        return f"{' → '.join([self.source, *operations])}:  {' · '.join(slopes[::-1]) or '1'}"


def _wrapped(text: str) -> list[str]:
    """Break a path into lines, only after an arrow, a dot or the colon."""
    # textwrap breaks at spaces, so all other spaces become no-break spaces for a while.
    glued = text.replace(" ", "\xa0")
    for mark in ("→", "·", ":\xa0"):
        glued = glued.replace(f"{mark}\xa0", f"{mark} ")
    lines = textwrap.wrap(
        glued, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\xa0", " ").rstrip() for line in lines]


def format_count(count: int) -> str:
    """Format the number of paths: exactly, or as a power of ten if it is huge.

    Examples
    --------
    >>> format_count(1234), format_count(2**200)
    ('1,234', 'about 10^60')
    """
    return f"{count:,}" if count < 10**9 else f"about 10^{round(math.log10(count))}"


@dataclass(frozen=True, eq=False)
class Edge:
    """The dependence of one result of an operation, identified by its id, on one of the inputs."""

    source: int
    record: Record
    position: int
    result_id: int

    @property
    def x(self) -> Any:
        """The value of the input."""
        return self.record.values[self.position]

    @property
    def y(self) -> Any:
        """The value of the result."""
        output, numbers = self.record.output, self.record.output_id
        return output[numbers.index(self.result_id)] if isinstance(numbers, tuple) else output

    @property
    def rule(self) -> Any:
        """The derivative rule for the input, or None if the operation has no derivative there."""
        operation = self.record.operation
        flat = operation.joint_rule is no_derivative
        return None if flat else operation.rule_for(self.position)

    def has_derivative(self) -> bool:
        """Return True if gradients pass from the result to the input."""
        # "call" marks a custom gradient, which may return None: only calling it shows whether it does.
        if self.rule is None or "call" not in (self.record.params or {}):
            return self.rule is not None
        return self.pull_back(ones(self.y)) is not None

    def are_numbers(self) -> bool:
        """Return True if the input and the result are scalars whose values are available."""
        return not (self.x.ndim or self.y.ndim) and has_numbers(self.x) and has_numbers(self.y)

    def pull_back(self, g: Any) -> Any:
        """Return the gradient with respect to the input, for one with respect to the result, as the sweep does."""
        _, values, _, params, output, numbers = self.record
        if isinstance(numbers, tuple):
            parts = zip(numbers, output, strict=True)
            g = tuple(
                g if i == self.result_id else np.zeros(y.shape, y.dtype)[()] for i, y in parts
            )
        return dense(self.rule(g, output, *values, **(params or {})))

    def pull_back_scalar(self, g: Any) -> Any:
        """Return the gradient with respect to a scalar input, as a NumPy scalar of the right dtype."""
        passed = self.pull_back(self.y.dtype.type(g))
        return passed if isinstance(passed, np.generic) else np.sum(passed)

    @cached_property
    def value(self) -> complex | None:
        """The local derivative as a number, or None if it isn't a single number."""
        if not self.are_numbers():
            return None
        slope = self.pull_back_scalar(1)
        # The conjugate, for example, isn't complex linear: it pulls 1 back to 1, but 1j to -1j.
        if self.y.dtype.kind == "c" and not _close(self.pull_back_scalar(1j), 1j * slope):
            return None
        return _as_returned(slope)

    @property
    def slope(self) -> str:
        """The local derivative as text: a number, or the shape of its matrix."""
        if not (self.x.ndim or self.y.ndim or self.are_numbers()):
            return NOT_COMPUTED
        if not self.are_numbers():
            return f"[{_size(self.y)} by {_size(self.x)}]"
        if self.value is None:
            conjugates = _close(self.pull_back_scalar(1), 1) and _close(
                self.pull_back_scalar(1j), -1j
            )
            return "conj" if conjugates else f"[2 by {2 if self.x.dtype.kind == 'c' else 1}]"
        text = format_number(self.value)
        return f"({text})" if np.iscomplexobj(self.value) else text


Chain = tuple[Edge, "Chain"] | None
"""The last edges of a path, from some value to the target. Paths share their common last edges."""


def paths(
    snapshot: Snapshot, target: Any, source: Any, names: Mapping[int, str]
) -> tuple[tuple[Path, ...], int]:
    """Find and count the paths from a source to a target along which each operation has a derivative.

    Returns
    -------
    paths : tuple of Path
        In the order of the tape. Empty if there are more than `SHOWN` paths.
    count : int
    """
    start, goal = id_of(source), id_of(target)
    with silence():
        counts, edges = _edges(snapshot, start)
        result: list[Path] = []
        stack: list[tuple[int, Chain]] = [(goal, None)] if 0 < counts[goal] <= SHOWN else []
        while stack:
            number, chain = stack.pop()
            if number == start:
                result.append(_path(chain, names.get(start, "?"), unwrap(target), names))
            else:
                stack += [(edge.source, (edge, chain)) for edge in reversed(edges[number])]
    return tuple(result), int(counts[goal])


def _path(chain: Chain, source: str, target: Any, names: Mapping[int, str]) -> Path:
    edges: list[Edge] = []
    while chain is not None:
        edge, chain = chain
        edges.append(edge)
    shown = edges if len(edges) <= 2 * ENDS else edges[:ENDS] + edges[-ENDS:]
    called = [(edge.record.name, names.get(edge.result_id, ""), edge.slope) for edge in shown]
    steps = [(f"{name} = {result}" if result else name, slope) for name, result, slope in called]
    product, real = _product(edges, target)
    return Path(source, tuple(steps), product, len(edges) - len(shown), real)


def _edges(
    snapshot: Snapshot, start: int
) -> tuple[defaultdict[int, Decimal], defaultdict[int, list[Edge]]]:
    """Count the paths from the source to each value, and list their last edges."""
    # The number of paths doubles with every `x = x * x`. Decimal keeps 28 digits; an int would grow without limit.
    counts: defaultdict[int, Decimal] = defaultdict(Decimal, {start: Decimal(1)})
    edges: defaultdict[int, list[Edge]] = defaultdict(list)
    tracked = snapshot.tracked
    for plain in snapshot.records:
        if counts.keys().isdisjoint(plain[2]):
            continue
        record = Record._make(plain)
        outputs = record.output_id if isinstance(record.output_id, tuple) else (record.output_id,)
        for position, i in enumerate(record.ids):
            if i not in counts or tracked.get(i, math.inf) > outputs[0]:
                continue
            edge = Edge(i, record, position, outputs[0])
            if edge.has_derivative():
                for out in outputs:
                    counts[out] += counts[i]
                    edges[out].append(edge if out == outputs[0] else replace(edge, result_id=out))
    return counts, edges


def _product(edges: list[Edge], target: Any) -> tuple[complex | None, bool]:
    """Multiply along a path of scalars as the sweep does. Return also whether that takes a real part in between."""
    if target.ndim or not all(edge.are_numbers() for edge in edges):
        return None, False
    values: list[Any] = [edge.value for edge in edges]
    all_scalar = None not in values
    if all_scalar and not np.iscomplexobj([target, *values]):
        return float(math.prod(values)), False
    g = target.dtype.type(1)
    for edge in reversed(edges):
        g = edge.pull_back_scalar(g)
        if edge.x.dtype.kind != "c":
            g = g.real
    product = _as_returned(g)
    return product, bool(edges) and all_scalar and not _close(math.prod(values), product)


def _as_returned(g: Any) -> complex:
    """Convert a gradient from the sweep to the number that a tape returns: conjugated, and without negative zeros."""
    value: complex = (np.conjugate(g) + g.dtype.type(0)).item()
    return value


def _close(a: Any, b: Any) -> bool:
    return bool(np.isclose(a, b, equal_nan=True))


def _size(x: Any) -> str:
    return format_shape(x.shape) if x.ndim else "1"
