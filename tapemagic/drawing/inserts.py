"""Small pictures in the boxes of a graph: arrays, and how values change over the iterations of a loop."""

from __future__ import annotations

from functools import cached_property
from html import escape
from itertools import chain, count

from tapemagic.drawing.inset_plots import helps_log, plot
from tapemagic.drawing.labels import widest
from tapemagic.drawing.picture import Insert
from tapemagic.drawing.svg_hooks import GRADIENT, VALUE, class_of
from tapemagic.drawing.thumbnails import thumbnail
from tapemagic.explain.formatting import clipped, format_number, printable
from tapemagic.report.tabs.graph.boxes import LoopVariable
from tapemagic.report.tabs.graph.graph import Graph, Step, Value
from tapemagic.report.tabs.training.series import Series

PLOT, GAP, CAPTION, CAPTION_SIZE = (96, 26), 14, 12, 10
"""In points: the size of a plot, the room between two, the height of a caption, and the size of its font."""
ARRAY = (46, 22)
"""In points: the size of the picture of an array."""
MAX_PICTURED = 6
"""The most boxes of a graph with pictures of arrays; watched and named values come first."""
MAX_NAME = 16
"""The most characters of a name in a caption."""


class Inserts:
    """The small pictures of a graph, with a number for each; they are drawn when they are first asked for.

    - `arrays`: Whether the boxes of arrays have pictures.
    """

    def __init__(self, graph: Graph, arrays: bool = True) -> None:
        self._values = [x for x in graph.values if arrays and (x.summary or x.gradient_summary)]
        self._values = sorted(self._values, key=_importance)[:MAX_PICTURED]
        self._steps = [step for step in graph.steps if step.carried]
        # Their sizes are all that the search for a layout needs, which looks at many graphs.
        number = count()
        self._of_value = {x.index: Insert(next(number), "", *pair_size(x)) for x in self._values}
        self._of_step = {
            step.index: Insert(next(number), "", *developments_size(step)) for step in self._steps
        }

    @cached_property
    def by_number(self) -> dict[int, Insert]:
        """The pictures."""
        drawn = [array_pair(value, self._of_value[value.index].number) for value in self._values]
        drawn += [developments(step, self._of_step[step.index].number) for step in self._steps]
        return {insert.number: insert for insert in drawn}

    @property
    def has_arrays(self) -> bool:
        """True if there is a picture of an array."""
        return bool(self._of_value)

    def of_step(self, step: Step) -> Insert | None:
        """Return the number and the size of the picture of an operation, or None."""
        return self._of_step.get(step.index)

    def of_value(self, value: Value) -> Insert | None:
        """Return the number and the size of the picture of a value, or None."""
        return self._of_value.get(value.index)


def _importance(value: Value) -> int:
    """Return a sort key for values with pictures: watched first, then named, constants last."""
    # A reader looks for the inputs first, and then for names from the cell.
    if value.role in ("watched", "variable"):
        return 0
    return 3 if value.role == "constant" else 1 + (not value.name)


def pair_size(value: Value) -> tuple[float, float]:
    """Return the size of the picture of an array and its gradient."""
    both = (value.summary is not None) + (value.gradient_summary is not None)
    return both * (ARRAY[0] + GAP) - GAP, ARRAY[1]


def array_pair(value: Value, number: int = 0) -> Insert:
    """Draw an array and, to its right, its gradient."""
    width, height = ARRAY
    both = ((VALUE, value.summary), (GRADIENT, value.gradient_summary))
    drawn = [
        (mark, thumbnail(summary, width, height)) for mark, summary in both if summary is not None
    ]
    # Scripts find parts of a live picture by class; an image has no scripts, and saves the bytes.
    plain, marked = (
        "".join(
            f'<g{with_marks * class_of(mark)} transform="translate({k * (width + GAP):g} 0)">{picture}</g>'
            for k, (mark, picture) in enumerate(drawn)
        )
        for with_marks in (False, True)
    )
    return Insert(number, plain, *pair_size(value), marked)


def developments_size(step: Step) -> tuple[float, float]:
    """Return the size of the plots of the variables of a loop."""
    columns = 2 if any(carried.gradients for carried in step.carried) else 1
    rows = len(step.carried) * (PLOT[1] + CAPTION + 4) + 8
    return columns * (_column_width(step) + GAP) - GAP, rows


def _column_width(step: Step) -> float:
    words = chain.from_iterable(map(captions, step.carried))
    return max(PLOT[0], widest(words, CAPTION_SIZE))


def developments(step: Step, number: int = 0) -> Insert:
    """Plot the variables of a loop, one row each, with their gradients to the right."""
    height, width = PLOT[1], _column_width(step)
    words = [captions(carried) for carried in step.carried]
    parts = []
    for row, carried in enumerate(step.carried):
        y = row * (height + CAPTION + 4)
        series = filter(None, (carried.values, carried.gradients))
        for column, (values, caption) in enumerate(zip(series, words[row], strict=True)):
            drawn = _plotted(values, caption, column * (width + GAP) + width / 2, y)
            parts.append(((VALUE, GRADIENT)[column], drawn))
    marked = "".join(f"<g{class_of(mark)}>{drawn}</g>" for mark, drawn in parts)
    return Insert(number, "".join(drawn for _, drawn in parts), *developments_size(step), marked)


def captions(carried: LoopVariable) -> list[str]:
    """Return the captions of a loop variable and of its gradients, with the first and last number."""
    name = clipped(carried.name, MAX_NAME)
    name = f"norm of {name or 'a value'}" if carried.is_norm else name
    ends = first_and_last(carried.values)
    words = [f"{name}: {ends}" if name else ends]
    if carried.gradients is not None:
        words.append(f"{'norm of ' * carried.is_norm}gradient: {first_and_last(carried.gradients)}")
    return words


def first_and_last(series: Series) -> str:
    """Return the first and last number of a series."""
    if len(series.values) == 1:
        return format_number(series.values[0])
    return f"{format_number(series.values[0])} … {format_number(series.values[-1])}"


def _plotted(series: Series, words: str, middle: float, y: float) -> str:
    """Draw a plot below its caption, both centered in a column."""
    width, height = PLOT
    drawn = plot([series], width, height, helps_log([series]))
    place = f'x="{middle:g}" y="{y + 9:g}" font-size="{CAPTION_SIZE}" text-anchor="middle"'
    return (
        f"<text {place}>{escape(printable(words))}</text>"
        f'<g transform="translate({middle - width / 2:g} {y + CAPTION:g})">{drawn}</g>'
    )
