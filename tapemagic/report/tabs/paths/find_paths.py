"""The paths of a report: how a source reaches the target, and how much each path adds to the gradient."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dis import opmap
from typing import Any, TypeAlias

import numpy as np

from tapemagic.engine.recording import Record, outputs_of, silence
from tapemagic.engine.tape.careful_sweep import spoiled_to_zero
from tapemagic.engine.tape.cotangents import ones
from tapemagic.engine.tape.gradient_steps import size_of
from tapemagic.engine.tape.observer import Site
from tapemagic.engine.tape.sweep import fit
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.chain_rule import Edge
from tapemagic.explain.formatting import derivative_symbol, format_number, format_value
from tapemagic.explain.program_text import text_at
from tapemagic.explain.snapshot import Named
from tapemagic.report.subject import Subject

MAX_OPERATIONS = 100
"""The operations of the longest recording whose paths are counted: a reader cannot follow a path through more."""
MAX_PATHS = 12
"""Maximum number of paths from a source to the target that are listed."""
MAX_GRADIENTS = 6
"""The gradients whose paths are listed."""
MAX_SHOWN = 6
"""The paths of one gradient that are written out: the largest ones."""
MAX_ENDS = 3
"""The operations at each end of a path that are written out."""
MAX_WORK, WORK_OF_A_CALL = 1_000_000, 500
"""The elements that all local derivatives together may have, and the elements that would take as long as calling one.

So finding the paths takes milliseconds, unless one rule does much for each element: 0.1 s for the SVD of a 400 x
400 matrix.
"""

UNPACKING = {opmap["UNPACK_SEQUENCE"], opmap["UNPACK_EX"]}
MAX_WRITTEN = 40
"""Maximum number of characters of an operation that stands for a path."""
CLEAR = 0.01
"""The share of the sum by which one contribution must exceed the next: it is shown in percent."""

Chain: TypeAlias = tuple[Edge, "Chain"] | None
"""The end of a path, from some value to the target; what several paths have in common is kept once."""


@dataclass(frozen=True)
class PathStep:
    """A step of a path.

    - `operation`: Its name; of several that are not written out, their number.
    - `result`: The name or symbol of its result, or '' for a result that the graph does not show.
    - `slope`: The local derivative: a number, or of arrays the shape of their Jacobian.
    """

    operation: str
    result: str
    slope: str


@dataclass(frozen=True)
class GradientPath:
    """A path from a source to the target.

    - `steps`: From the source to the target.
    - `contribution`: What the path adds to the gradient: a number, or the Euclidean norm of an array.
    - `share`: The size of the contribution as a part of the sum of all sizes; None of a single path, and if that sum is
      zero, nan or infinite.
    """

    steps: tuple[PathStep, ...]
    contribution: str
    share: float | None = None


@dataclass(frozen=True)
class LargestPart:
    """The path that adds the most to a gradient.

    - `where`: The operation that only this path goes through, as the program writes it.
    - `contribution`: A number, or of an array its norm.
    - `others`: The sum of all other contributions.
    """

    where: str
    contribution: str
    share: float
    others: str


@dataclass(frozen=True)
class GradientPaths:
    """The paths of one gradient.

    - `count`: The number of all paths.
    - `paths`: The largest contribution first; no paths if there are more than `MAX_PATHS`.
    - `rest`: What all other paths add to the gradient together, or '' if all are written out.
    - `is_norm`: Whether contributions are norms of arrays.
    - `is_signed`: Whether contributions have different signs, so that they partly cancel.
    - `largest`: The path that adds the most; None if several add as much, or none can be named.
    """

    target: str
    source: str
    gradient: str
    count: int
    paths: tuple[GradientPath, ...] = ()
    rest: str = ""
    is_norm: bool = False
    is_signed: bool = False
    largest: LargestPart | None = None

    @property
    def symbol(self) -> str:
        """The symbol of the gradient: dy/dx."""
        return derivative_symbol(self.target, self.source, 1)


@dataclass(frozen=True)
class PathFindings:
    """The contents of the tab Paths.

    - `more`: The number of other gradients.
    """

    gradients: tuple[GradientPaths, ...]
    more: int = 0


class _TooMuchWorkError(Exception):
    """The local derivatives have too many elements to be computed for a report."""


def find(subject: Subject) -> PathFindings | None:
    """Find the paths from the sources to the targets.

    Returns
    -------
    PathFindings or None
        None unless a source reaches a target by 2 to `MAX_PATHS` paths. One path is the chain rule, which the trace
        shows; for more, as in a loop or a network, ``%why`` adds up the contributions of each line.
    """
    if subject.operations > MAX_OPERATIONS or subject.has_lazy_values:
        return None
    try:
        with silence():
            gradients = [
                paths for target in subject.targets for paths in _paths_to(subject, target)
            ]
    except Exception:  # noqa: BLE001 -- a rule may call anything; the table of gradients shows the error
        return None
    if not any(1 < paths.count <= MAX_PATHS for paths in gradients):
        return None
    return PathFindings(tuple(gradients[:MAX_GRADIENTS]), max(0, len(gradients) - MAX_GRADIENTS))


def _paths_to(subject: Subject, target: Named) -> list[GradientPaths]:
    """Return the paths from each source that reaches a target."""
    name, y = target
    counts, edges = _edges(subject, id_of(y))
    reached = [x for x in subject.sources if x[1] is not y and counts.get(id_of(x[1]))]
    starts = {id_of(x) for _, x in reached[:MAX_GRADIENTS] if counts[id_of(x)] <= MAX_PATHS}
    chains = _chains(unwrap(y), id_of(y), starts, edges)
    return [
        _gradient_paths(subject, name, source, counts[id_of(source[1])], chains)
        for source in reached
    ]


Edges = Mapping[int, Sequence[Edge]]
"""The operations with a derivative that lead from each value towards the target, by the id of their result."""


def _edges(subject: Subject, goal: int) -> tuple[Mapping[int, int], Edges]:
    """Return the number of paths from every value to the target, and the operations along these paths."""
    counts: defaultdict[int, int] = defaultdict(int, {goal: 1})
    edges: defaultdict[int, list[Edge]] = defaultdict(list)
    tracked = subject.whole.tracked
    # Backwards: every operation that reads a value comes before the one that made it, so each count is complete.
    for plain in reversed(subject.whole.records[: subject.operations]):
        record = Record._make(plain)
        # A result of several (np.modf) ends separate paths.
        for output_id in record.output_ids:
            if output_id not in counts:
                continue
            for position, i in enumerate(record.ids):
                # A value that was watched only after this operation is a constant to it.
                if tracked.get(i, math.inf) > record.output_ids[0]:
                    continue
                edge = Edge(i, record, position, output_id)
                if edge.has_derivative():
                    counts[i] += counts[output_id]
                    edges[output_id].append(edge)
    return counts, edges


def _chains(
    target: Any, goal: int, starts: set[int], edges: Edges
) -> Mapping[int, list[tuple[Chain, Any]]]:
    """The paths from some sources, by their ids, each with the gradient that arrives along this path.

    Raises
    ------
    _TooMuchWorkError
    """
    chains: defaultdict[int, list[tuple[Chain, Any]]] = defaultdict(list)
    leading = _leading(starts, edges)
    stack: list[tuple[int, Chain, Any]] = [(goal, None, ones(target))] if starts else []
    work = 0
    while stack:
        number, chain, g = stack.pop()
        if number in starts:
            chains[number].append((chain, np.conjugate(g) if g.dtype.kind == "c" else g))
        # The stack returns the last edge first, so reversing keeps the order of the tape.
        for edge in reversed(edges.get(number, ())):
            if edge.source not in leading:
                continue
            work += WORK_OF_A_CALL + edge.x.size + edge.y.size
            if work > MAX_WORK:
                raise _TooMuchWorkError
            # In the dtype of the result, as in the reverse sweep: a float32 rule must not get float64.
            passed = edge.pull_back(g.astype(edge.y.dtype, copy=False))
            if passed is not None:
                passed = fit(passed, edge.x, edge.record.name, edge.position)
                stack.append((edge.source, (edge, chain), passed))
    return chains


def _leading(starts: set[int], edges: Edges) -> set[int]:
    """Return the ids of the values on paths that begin at `starts`."""
    leading = set(starts)
    for output_id in sorted(edges):  # ids rise in the order of the tape: inputs come before results
        if any(edge.source in leading for edge in edges[output_id]):
            leading.add(output_id)
    return leading


def _gradient_paths(
    subject: Subject,
    target: str,
    source: Named,
    count: int,
    chains: Mapping[int, Sequence[tuple[Chain, Any]]],
) -> GradientPaths:
    """The paths of one gradient, the largest contribution first."""
    name, x = source
    place = next(k for k, (candidate, _) in enumerate(subject.sources) if candidate == name)
    goal = next(k for k, (candidate, _) in enumerate(subject.targets) if candidate == target)
    gradient = subject.derivatives.gradients.get((goal, place, 1))
    shown = "None" if gradient is None else format_value(unwrap(gradient))
    along = chains.get(id_of(x), ())
    if gradient is not None:
        along = [(chain, spoiled_to_zero(g, unwrap(gradient))) for chain, g in along]
    contributions = [(chain, g, size_of(g)) for chain, g in along]
    # nan first: it is the one to look at. The order of the tape decides between equal sizes, since sort is stable.
    contributions.sort(key=lambda entry: -math.inf if math.isnan(entry[2]) else -entry[2])
    total = math.fsum(size for _, _, size in contributions)
    slopes: dict[Edge, str] = {}
    paths = tuple(
        GradientPath(
            tuple(_steps(subject, chain, target, slopes)),
            format_number(g.item() if not g.ndim else size),
            size / total if count > 1 and 0 < total < math.inf else None,
        )
        for chain, g, size in contributions[:MAX_SHOWN]
    )
    smaller = [g for _, g, _ in contributions[MAX_SHOWN:]]
    rest = sum(smaller[1:], smaller[0]) if smaller else None
    return GradientPaths(
        target,
        name,
        shown,
        count,
        paths,
        "" if rest is None else format_number(size_of(rest) if rest.ndim else rest.item()),
        bool(x.shape),
        _have_different_signs([g for _, g, _ in contributions]),
        _largest_part(subject, name, contributions, total) if count > 1 else None,
    )


def _largest_part(
    subject: Subject, source: str, contributions: Sequence[tuple[Chain, Any, float]], total: float
) -> LargestPart | None:
    """Return the path that adds the most, or None if several add as much, or none can be named.

    - `contributions`: The paths, the gradient along each and its size; the largest first.
    - `total`: The sum of all sizes.
    """
    # A sum of complex numbers has no largest part: their phases matter, too.
    if not 0 < total < math.inf or any(g.dtype.kind == "c" for _, g, _ in contributions):
        return None
    (_, g, size), (_, _, second), *_ = contributions
    if size - second < CLEAR * total:
        return None
    paths = [list(_edges_of(chain)) for chain, _, _ in contributions]
    names = [
        _where(subject, source, path, paths[:k] + paths[k + 1 :]) for k, path in enumerate(paths)
    ]
    if not names[0] or names[0] in names[1:]:
        return None
    others = sum(g for _, g, _ in contributions[1:])
    return LargestPart(
        names[0],
        format_number(size if g.ndim else g.item()),
        size / total,
        "" if g.ndim else format_number(others.item()),
    )


def _where(
    subject: Subject, source: str, path: Sequence[Edge], others: Sequence[Sequence[Edge]]
) -> str:
    """Return the operation that only one path goes through, as the program writes it, or '' if there is none."""
    elsewhere = {edge.result_id for other in others for edge in other}
    only = [edge for edge in path if edge.result_id not in elsewhere]
    if only:
        edge = only[0]
        text, name = _written(subject, edge), subject.known_names.get(edge.result_id, "")
        return f"{name} = {text}" if name and text else text or name
    # All operations of this path are on others, too: then the source itself enters one of them, as in x * np.sin(x).
    first = path[0]
    reads = [
        edge for edges in (path, *others) for edge in edges if edge.result_id == first.result_id
    ]
    if all(edge.source == first.source for edge in reads):
        return ""
    text = _written(subject, first)
    return text and f"the {source} in {text}"


def _written(subject: Subject, edge: Edge) -> str:
    """Return an operation as the program writes it, or '' if that is not known or too long."""
    records = subject.whole.records[: subject.operations]
    position = next(k for k, plain in enumerate(records) if edge.result_id in outputs_of(plain))
    origins = subject.whole.origins
    if not origins.calls:
        return ""
    site = Site._make(origins.sites[position])
    code = origins.calls[site.call].code
    text = "" if code is None else text_at(code, site.offset)
    # The text of `w, b = params` would be that of its targets: the name alone says more.
    if code is None or not text or code.co_code[site.offset] in UNPACKING:
        return ""
    return text if len(text) <= MAX_WRITTEN else ""


def _edges_of(chain: Chain) -> Iterator[Edge]:
    while chain is not None:
        edge, chain = chain
        yield edge


def _have_different_signs(contributions: Sequence[Any]) -> bool:
    """Return True if contributions partly cancel; of arrays and complex numbers that is not said."""
    if any(g.ndim or g.dtype.kind == "c" for g in contributions):
        return False
    return any(g > 0 for g in contributions) and any(g < 0 for g in contributions)


def _steps(
    subject: Subject, chain: Chain, target: str, slopes: dict[Edge, str]
) -> Iterator[PathStep]:
    """The steps of a path, from the source to the target; of a long path those at its ends.

    The local derivatives are kept in `slopes`, for other paths with the same operations.
    """
    edges = list(_edges_of(chain))
    hidden = len(edges) - 2 * MAX_ENDS
    for k, edge in enumerate(edges):
        if hidden > 1 and MAX_ENDS <= k < MAX_ENDS + hidden:
            if k == MAX_ENDS:
                yield PathStep(f"{hidden} more operations", "…", "…")
            continue
        result = target if k == len(edges) - 1 else subject.symbols.get(edge.result_id, "")
        if edge not in slopes:
            slopes[edge] = edge.slope
        name, read = edge.record.name, edge.record.ids
        # `x * x` has two paths from x, which differ only in the input that they go through.
        position = f" (input {edge.position + 1})" if read.count(edge.source) > 1 else ""
        yield PathStep(name + position, result, slopes[edge])
