"""Small pictures in the boxes of a graph: arrays, and how values develop over the iterations of a loop."""

from __future__ import annotations

from html import escape
from itertools import count

from tapemagic.drawing.inset_plots import helps_log, plot
from tapemagic.drawing.picture import Insert
from tapemagic.drawing.svg_hooks import GRADIENT, VALUE, class_of
from tapemagic.drawing.thumbnails import thumbnail
from tapemagic.explain.formatting import clipped, format_number, printable
from tapemagic.report.tabs.graph.boxes import LoopVariable
from tapemagic.report.tabs.graph.graph import Graph, Step, Value
from tapemagic.report.tabs.training.series import Series

PLOT, GAP, CAPTION, LETTER = (96, 26), 14, 10, 5
"""In points: the size of a plot, the room between two, the height of a caption, and the width of a letter in it."""
ARRAY = (46, 22)
"""In points: the size of the picture of an array."""
MAX_PICTURED = 6
"""The most boxes of a graph with pictures of arrays: those of watched values and of values with a name come first."""
LONGEST = 16
"""The most characters of a name in a caption."""


class Inserts:
    """The small pictures of a graph, with a number for each.

    Parameters
    ----------
    graph : Graph

    Attributes
    ----------
    by_number : dict of int to Insert
    """

    def __init__(self, graph: Graph) -> None:
        self.by_number: dict[int, Insert] = {}
        self._of_step: dict[int, int] = {}
        self._of_value: dict[int, int] = {}
        number = count()
        pictured = [x for x in graph.values if x.summary or x.gradient_summary]
        for value in sorted(pictured, key=_importance)[:MAX_PICTURED]:
            k = self._of_value[value.index] = next(number)
            self.by_number[k] = arrays(value)
        for step in graph.steps:
            if step.carried:
                k = self._of_step[step.index] = next(number)
                self.by_number[k] = developments(step)

    def of_step(self, step: Step) -> list[str]:
        """The lines of text that stand for the picture in the label of an operation."""
        number = self._of_step.get(step.index)
        return [] if number is None else self.by_number[number].marker(number)

    def of_value(self, value: Value) -> list[str]:
        """The lines of text that stand for the picture in the box of a value."""
        number = self._of_value.get(value.index)
        return [] if number is None else self.by_number[number].marker(number)


def _importance(value: Value) -> int:
    """The rank of a value among those that have pictures: watched ones first, constants last."""
    if value.role in ("watched", "variable"):
        return 0
    return 3 if value.role == "constant" else 1 + (not value.name)


def arrays(value: Value) -> Insert:
    """The picture of an array, and of its gradient beside it."""
    width, height = ARRAY
    both = ((VALUE, value.summary), (GRADIENT, value.gradient_summary))
    shown = [
        (mark, thumbnail(summary, width, height)) for mark, summary in both if summary is not None
    ]
    plain, marked = (
        "".join(
            f'<g{with_marks * class_of(mark)} transform="translate({k * (width + GAP):g} 0)">{picture}</g>'
            for k, (mark, picture) in enumerate(shown)
        )
        for with_marks in (False, True)
    )
    return Insert(plain, len(shown) * (width + GAP) - GAP, height, marked)


def developments(step: Step) -> Insert:
    """Plots of the values that a loop carries, and of their gradients beside them, one row for each value."""
    height = PLOT[1]
    columns = 2 if any(carried.gradients for carried in step.carried) else 1
    words = [captions(carried) for carried in step.carried]
    longest = max(len(caption) for row in words for caption in row)
    width = max(PLOT[0], longest * LETTER)
    parts = []
    for row, carried in enumerate(step.carried):
        y = row * (height + CAPTION + 4)
        series = filter(None, (carried.values, carried.gradients))
        for column, (values, caption) in enumerate(zip(series, words[row], strict=True)):
            drawn = _plotted(values, caption, column * (width + GAP) + width / 2, y)
            parts.append(((VALUE, GRADIENT)[column], drawn))
    marked = "".join(f"<g{class_of(mark)}>{drawn}</g>" for mark, drawn in parts)
    whole = columns * (width + GAP) - GAP, len(step.carried) * (height + CAPTION + 4) + 8
    return Insert("".join(drawn for _, drawn in parts), *whole, marked)


def captions(carried: LoopVariable) -> list[str]:
    """The captions of a carried value and, where they are known, of its gradients: with the first and last number."""
    name = clipped(carried.name, LONGEST)
    name = f"norm of {name or 'a value'}" if carried.is_norm else name
    ends = first_and_last(carried.values)
    words = [f"{name}: {ends}" if name else ends]
    if carried.gradients is not None:
        words.append(f"{'norm of ' * carried.is_norm}gradient: {first_and_last(carried.gradients)}")
    return words


def first_and_last(series: Series) -> str:
    """The first and the last number of a series."""
    return f"{format_number(series.values[0])} … {format_number(series.values[-1])}"


def _plotted(series: Series, words: str, middle: float, y: float) -> str:
    """A plot below its caption, both in the middle of a column."""
    width, height = PLOT
    drawn = plot([series], width, height, helps_log([series]))
    place = f'x="{middle:g}" y="{y + 8:g}" font-size="8" text-anchor="middle"'
    return (
        f"<text {place}>{escape(printable(words))}</text>"
        f'<g transform="translate({middle - width / 2:g} {y + CAPTION:g})">{drawn}</g>'
    )
