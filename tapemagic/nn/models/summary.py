"""Summary of a model: a text table of its layers with their output shapes and numbers of parameters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from tapemagic.engine.nest import leaves
from tapemagic.errors import OptionError, TapeError
from tapemagic.nn.symbolic import kind_of, nodes_of

WIDTH = 76
"""The width of a table, in characters."""

STACK = (0.45, 0.80, 1.0)
BRANCHED = (0.3, 0.56, 0.74, 1.0)
"""The ends of the columns, as shares of the width, without and with a column "Connected to"; Keras's values."""


def summary_of(
    model: Any,
    line_length: int | None = None,
    positions: Sequence[float] | None = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
) -> str:
    """Return the summary of a model as text; see `Model.summary` for the options."""
    branched = _is_branched(model)
    header = ["Layer (type)", "Output Shape", "Param #"]
    ends = list(BRANCHED if branched else STACK)
    if branched:
        header.append("Connected to")
    if show_trainable:
        header.append("Trainable")
        ends = [*(0.9 * end for end in ends), 1.0]
    widths = _widths(WIDTH if line_length is None else line_length, positions or ends, len(header))
    rows = [
        [*row[: 3 + branched], *([_trained(layer)] if show_trainable else [])]
        for layer, row in _rows(model, _nodes(model), expand_nested)
    ]
    aligned = ["<", "<", ">", *("<" if branched else ""), *("^" if show_trainable else "")]
    lines = [f'Model: "{model.name}"', *_table(header, rows, widths, aligned), *_totals(model)]
    return "\n".join(lines)


def _nodes(model: Any) -> list[Any]:
    return model.graph.nodes if model.graph else []


def _is_branched(model: Any) -> bool:
    """Return True if a model is more than a stack of layers, each called once on the previous output."""
    nodes = _nodes(model)
    # Keras shows "Connected to" only for these models.
    shared = _is_functional(model) and len({id(node.layer) for node in nodes}) < len(nodes)
    starts = sum(not node.inputs for node in nodes)
    readers = [x.key for node in nodes for x in node.inputs]
    several = any(len(node.inputs) > 1 for node in nodes) or len(set(readers)) < len(readers)
    return shared or starts > 1 or several


def _rows(
    model: Any, nodes: list[Any], expand: bool, depth: int = 0
) -> Iterator[tuple[Any, list[str]]]:
    """Yield the layers of a model with the cells of their rows."""
    mark = "   " * depth + "└ " if depth else ""
    for layer in model.graph.layers if _is_functional(model) else model.layers:
        own = [node for node in nodes if node.layer is layer]
        count = f"{_size(layer.variables):,}" if layer.built else "0 (unbuilt)"
        cells = [f"{mark}{layer.name} ({kind_of(layer)})", _output_shape(layer, own), count]
        yield layer, [*cells, "-" if depth else _sources(own)]
        if expand and hasattr(layer, "layers") and hasattr(layer, "graph"):
            yield from _rows(layer, _nodes(layer), expand, depth + 1)


def _is_functional(model: Any) -> bool:
    """Return True if a model between symbolic tensors, whose inputs and operators are shown as rows."""
    return hasattr(model, "operations")


def _output_shape(layer: Any, nodes: list[Any]) -> str:
    """Return the output shapes of a layer in a model, or on inputs of the shape that it was built for."""
    nodes = nodes or nodes_of(layer)
    if nodes:
        return _shapes(x.shape for x in leaves(nodes[-1].outputs))
    shape = layer.built_shape
    if not (layer.built and isinstance(shape, tuple) and shape):
        return "?"
    try:
        return _shapes([layer.compute_output_shape((None, *shape[1:]))])
    except (TapeError, ValueError, TypeError, NotImplementedError):
        return "?"


def _shapes(shapes: Iterable[Any]) -> str:
    return ", ".join(f"({', '.join(map(str, shape))})" for shape in shapes)


def _sources(nodes: list[Any]) -> str:
    """Return the layers whose outputs a layer receives, each with the numbers of its call and its output."""
    sources = []
    for node in nodes:
        for x in node.inputs:
            calls = nodes_of(x.node.layer)
            sources.append(
                f"{x.node.layer.name}[{calls.index(x.node)}][{x.node.keys.index(x.key)}]"
            )
    return ", ".join(sources) or "-"


def _trained(layer: Any) -> str:
    if not layer.variables:
        return "-"
    return "Y" if layer.trainable else "N"


def _widths(line_length: int, ends: Sequence[float], columns: int) -> list[int]:
    """Return the widths of the columns, without their borders."""
    if len(ends) != columns or list(ends) != sorted(ends):
        raise OptionError(
            f"positions must be {columns} increasing numbers, such as (0.45, 0.8, 1.0), not {ends!r}"
        )
    # Keras's widths: shares of the line, made smaller by the library rich so that borders and spaces fit into it.
    places = [0, *(int(end * line_length / ends[-1]) for end in ends)]
    widths = [b - a + 2 for a, b in pairwise(places)]
    excess = sum(widths) - (line_length - columns - 1)
    for column in range(columns):
        less = round(excess / (columns - column))
        widths[column] -= less
        excess -= less
    if min(widths) < 4:
        raise OptionError(
            f"line_length={line_length} leaves no room for {columns} columns: omit it"
        )
    return widths


def _table(
    header: list[str], rows: list[list[str]], widths: list[int], aligned: list[str]
) -> Iterator[str]:
    def line(left: str, dash: str, middle: str, right: str) -> str:
        return left + middle.join(dash * width for width in widths) + right

    yield line("┏", "━", "┳", "┓")
    yield from _cells(header, widths, aligned, "┃")
    yield line("┡", "━", "╇", "┩")
    for number, row in enumerate(rows):
        if number:
            yield line("├", "─", "┼", "┤")
        yield from _cells(row, widths, aligned, "│")
    yield line("└", "─", "┴", "┘")


def _cells(row: list[str], widths: list[int], aligned: list[str], border: str) -> Iterator[str]:
    """Yield the lines of a row, with longer cells wrapped."""
    broken = [_wrapped(cell, width - 2) for cell, width in zip(row, widths, strict=True)]
    for number in range(max(map(len, broken))):
        parts = [lines[number] if number < len(lines) else "" for lines in broken]
        cells = [
            f" {part:{align}{width - 2}} "
            for part, align, width in zip(parts, aligned, widths, strict=True)
        ]
        yield border + border.join(cells) + border


def _wrapped(cell: str, width: int) -> list[str]:
    indent = cell[: len(cell) - len(cell.lstrip())]
    # textwrap drops leading spaces, which show the depth of a layer here.
    lines = textwrap.wrap(cell.strip(), width, initial_indent=indent, break_on_hyphens=False)
    return lines or [""]


def _totals(model: Any) -> Iterator[str]:
    variables = model.variables
    trained = [v for v in variables if v.trainable]
    optimizer = getattr(model, "optimizer", None)
    # Keras counts the optimizer's variables in the total, and so do we, once they exist.
    states = list(optimizer.variables) if optimizer is not None and optimizer.built else []
    yield f" Total params: {_amount([*variables, *states])}"
    yield f" Trainable params: {_amount(trained)}"
    yield f" Non-trainable params: {_amount([v for v in variables if not v.trainable])}"
    if states:
        yield f" Optimizer params: {_amount(states)}"
    waiting = [layer.name for layer in model.layers if not layer.built]
    if waiting or not model.built:
        yield (
            " Not built yet: the numbers of parameters are known once the model is called on data,\n"
            " has an nn.Input as its first layer, or its build((None, 3)) is called."
        )


def _size(variables: Iterable[Any]) -> int:
    return sum(variable.size for variable in variables)


def _amount(variables: list[Any]) -> str:
    """Return the number of elements in variables, and their memory, as text."""
    size: float = sum(variable.nbytes for variable in variables)
    unit = "B"
    # Units of 1024 bytes, as in Keras's summary.
    for larger in ("KB", "MB", "GB", "TB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{_size(variables):,} ({size:.2f} {unit})"
