"""Builds a graph from a recording; a plan says which parts are open."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tapemagic.engine.recording import Record, outputs_of, silence
from tapemagic.engine.tensor.tensor import Tensor, has_id, id_of, unwrap
from tapemagic.explain.chain_rule import Edge
from tapemagic.explain.formatting import dtype_name, format_lines, format_value
from tapemagic.explain.lazy_values import has_numbers, is_pending
from tapemagic.explain.snapshot import Named
from tapemagic.report.drawn_records import first_and_last
from tapemagic.report.subject import Role, Subject
from tapemagic.report.summary import Summary, summarise
from tapemagic.report.tabs.graph.boxes import (
    ConstantNames,
    Development,
    carried,
    developments,
    inner_variables,
    layer_call,
)
from tapemagic.report.tabs.graph.graph import Graph, GraphFrame, Step, Value
from tapemagic.report.tabs.graph.view import Fold, Frame, Plan
from tapemagic.report.tabs.trace.formulas import INPUTS, formula_of, is_chain
from tapemagic.report.tabs.trace.notation import Symbol, rendered, symbol_of
from tapemagic.report.verdict.source_operands import constants_in_text

ORDINALS = ("first", "second", "third")


class GraphBuilder:
    """A builder of a graph, which numbers values in the order of the tape."""

    def __init__(self, subject: Subject, max_inputs: int, planned: Plan) -> None:
        self.subject = subject
        self.snapshot = subject.snapshot
        self.planned = planned
        self.max_inputs = max_inputs
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.outputs: list[list[int]] = []
        self.assigned: list[list[int]] = []
        self.output_counts: list[int] = []
        self.index: dict[int, int] = {}
        self.constants: dict[int | str, int] = {}
        self.producer: dict[int, int] = {}
        self.developments: dict[int, Sequence[Development]] = {}
        self.labels = ConstantNames(subject)
        self.version_of = {
            new: (i, k)
            for i, numbers in subject.split.versions.items()
            for k, new in enumerate(numbers)
        }
        # For each variable, the last version that a fold read, and the fold: it has assigned the next version.
        self.latest: dict[int, tuple[int, int]] = {}
        self.changed: list[list[int]] = []
        self.layer_constants: dict[int, Any] = {}
        self.inner = inner_variables(subject, planned)
        self.lasting = lasting(subject)

    def build(self, room: int, spare: int = 0) -> Graph:
        """The graph; with unconnected targets and watched values up to `room` nodes, or `spare` if that is more."""
        for frame, what in self.planned.items:
            if isinstance(what, int):
                self.add_record(what, frame)
            else:
                self.add_fold(what, frame)
        spare = max(spare, room - len(self.values) - len(self.steps))
        for name, tensor in self.always_drawn()[:spare]:
            self.add_unconnected(name, tensor)
        steps = tuple(
            replace(
                step,
                outputs=tuple(outputs),
                assigned=tuple(assigned),
                changed=tuple(dict.fromkeys(changed)),
                hidden=step.hidden + max(0, count - len(outputs)),
            )
            for step, outputs, assigned, changed, count in zip(
                self.steps,
                self.outputs,
                self.assigned,
                self.changed,
                self.output_counts,
                strict=True,
            )
        )
        frames = tuple(map(self.frame, self.planned.frames))
        return Graph(tuple(self.values), steps, frames)

    def frame(self, frame: Frame) -> GraphFrame:
        """A frame with its label."""
        label = frame.name
        if frame.kind == "computation":
            label = ", ".join(name for name, _ in self.subject.targets)
        elif frame.kind == "iteration":
            label = f"{format_lines(frame.lines)}: iteration {frame.number:,} of {frame.total:,}"
        elif frame.kind == "derivative":
            label = self.derivative_label(frame.order, frame.first)
            if frame.lines:
                label += f" ({format_lines(frame.lines)})"
        elif frame.scope is not None:
            label = layer_call(frame.name, frame.scope).title
        elif frame.kind == "elided":
            label = f"{frame.total:,} operations"
        is_iteration = frame.kind == "iteration"
        iteration = (frame.number, frame.total) if is_iteration else None
        return GraphFrame(label, frame.kind, frame.parent, frame.key, iteration)

    def derivative_label(self, order: int, first: int) -> str:
        """The name of a derivative whose first operation is known: gradient of y."""
        names = [self.subject.names.get(i, "") for i in self.differentiated(first)]
        if names and all(names):
            return f"gradient of {', '.join(names[:2])}{', …' * (len(names) > 2)}"
        return f"{ORDINALS[order - 1] if order <= len(ORDINALS) else f'{order}th'} derivative"

    def is_in_iteration(self, frame: int | None) -> bool:
        """Return True if a frame is that of an iteration, or inside of one."""
        while frame is not None and self.planned.frames[frame].kind != "iteration":
            frame = self.planned.frames[frame].parent
        return frame is not None

    def differentiated(self, first: int) -> Sequence[int]:
        """The ids of the values whose derivative begins with an operation."""
        sweeps = self.snapshot.origins.sweeps
        # The last sweep that began before the first operation of the derivative has made it.
        time = outputs_of(self.snapshot.records[first])[0]
        k = bisect_right(sweeps, time, key=lambda sweep: sweep[0])
        return sweeps[k - 1][1] if k else ()

    def always_drawn(self) -> list[Named]:
        """The sources and targets, except for variables that changed, or are inside of the boxes of layers."""
        subject = self.subject
        if not subject.snapshot.records:
            return []
        both = [*subject.sources, *subject.targets]
        hidden = subject.split.versions.keys() | self.inner
        return [(name, x) for name, x in both if id_of(x) not in hidden]

    def add_unconnected(self, name: str, tensor: Any) -> None:
        """Add a target or watched value that is not in the graph yet."""
        i = id_of(tensor) if has_id(tensor) else -id(tensor)
        if i in self.index or (
            id(unwrap(tensor)) in self.labels.untracked and name in self.constants
        ):
            return
        self.new_value(i, name, self.subject.roles.get(id_of(tensor), "watched"), unwrap(tensor))

    def new_value(self, i: int, name: str, role: Role, value: Any, line: int | None = None) -> int:
        """Add a value on the tape, or a source or target; return its index."""
        index = self.index[i] = len(self.values)
        order = self.snapshot.order_of(i)
        if i in self.producer:
            self.outputs[self.producer[i]].append(index)
        if i in self.version_of:
            variable, version = self.version_of[i]
            changed, by = self.latest.get(variable, (0, -1))
            if by >= 0 and version > changed:
                self.assigned[by].append(index)
        # Without a gradient the box shows None, which is not 0: the target does not depend on the value.
        gradient = self.subject.adjoints.get(i)
        entries, shown, of_step = None, None, None
        if gradient is not None:
            summary = summarise(gradient)
            entries, shown = summary.entries, _picture(summary)
        elif not order and (gradient := self.subject.step_gradients.get(i)) is not None:
            summary = summarise(gradient)
            of_step, shown = summary.entries, _picture(summary)
        # What was computed from a gradient, such as a step of descent, is not meant to lead to the target.
        elif order or i in self.subject.after_gradients:
            of_step = ""
        self.values.append(
            self.value(
                value,
                Value(
                    index,
                    name,
                    role,
                    np.shape(value),
                    dtype_name(value),
                    "",
                    entries,
                    line,
                    order,
                    "" if name else self.subject.symbols.get(i, ""),
                    gradient_summary=shown,
                    step_gradient=of_step,
                ),
            )
        )
        return index

    def add_fold(self, fold: Fold, frame: int | None) -> None:
        """Add one node for several operations."""
        positions = fold.positions
        read_values, read, inside = self.reads_of(positions)
        index = len(self.steps)
        lines = fold.lines or self.lines_of(positions)
        developed = developments(self.subject, fold) if fold.kind == "loop" else []
        # Not in the iterations of a training: the arrow makes a graph longer, and the loss is next to its gradient.
        is_apart = fold.kind == "derivative" and not self.is_in_iteration(frame)
        goals = self.differentiated(positions[0]) if is_apart else ()
        self.developments[index] = developed
        inputs = self.inputs_of(fold, read_values)
        hidden = len(inputs if fold.scope else read_values)
        inputs = first_and_last(inputs, self.max_inputs)
        shown = tuple(self.index_of(x, i, None) for i, x in inputs)
        tracks = self.snapshot.tracks
        self.layer_constants |= {
            k: x for k, (i, x) in zip(shown, inputs, strict=True) if not tracks(i)
        }
        self.add(
            Step(
                index,
                self.fold_name(fold, len(positions)),
                shown,
                (),
                lines[0] if lines else None,
                fold.order,
                len(positions),
                hidden - len(shown),
                kind=fold.kind,
                frame=frame,
                lines=lines,
                iterations=(fold.first, fold.last, fold.total) if fold.kind == "loop" else None,
                carried=carried(self.subject, developed),
                fold=fold.key,
                layer=layer_call(fold.name, fold.scope) if fold.scope else None,
                goals=tuple(self.index[i] for i in goals if i in self.index),
            )
        )
        self.producer.update(dict.fromkeys(inside, index))
        if fold.kind == "layer":
            self.link_changes(read, index)
        else:
            self.latest.update((variable, (version, index)) for variable, version in read.items())
        results = {i: unwrap(self.lasting[i]) for i in inside if i in self.lasting}
        if fold.kind == "statement":
            # What else it made has a box if something reads it.
            record = self.subject.records[positions[-1]]
            results |= dict(zip(record.output_ids, record.outputs, strict=True))
        for i in first_and_last(sorted(results), self.max_inputs):
            self.index_of(results[i], i, lines[1] if lines else None)

    def lines_of(self, positions: Sequence[int]) -> tuple[int, int] | None:
        """Return the first and the last line of the cell that some operations belong to."""
        sites = self.snapshot.origins.sites
        lines = [line for p in positions if (line := sites[p][0]) is not None]
        return (min(lines), max(lines)) if lines else None

    def reads_of(self, positions: Sequence[int]) -> tuple[dict[int, Any], dict[int, int], set[int]]:
        """The values that some operations read of others, by id, the last one of each variable, and their results."""
        read_values: dict[int, Any] = {}
        read: dict[int, int] = {}
        inside: set[int] = set()
        records, tracked, version_of = self.snapshot.records, self.snapshot.tracked, self.version_of
        for position in positions:
            _, values, ids, _, _, output_id = records[position]
            for value, i in zip(values, ids, strict=True):
                # Most inputs are results of operations inside, or constants.
                if i in inside or i not in tracked:
                    continue
                variable = i
                if i in version_of:
                    variable, version = version_of[i]
                    is_first = variable not in read
                    read[variable] = max(version, read.get(variable, 0))
                    if not is_first:
                        continue
                if i not in read_values and variable not in self.inner:
                    read_values[i] = value
            if isinstance(output_id, tuple):
                inside.update(output_id)
            else:
                inside.add(output_id)
        return read_values, read, inside

    def inputs_of(self, fold: Fold, read_values: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """The values that lead into a fold, with their ids: those with a box, or else all.

        A layer reads all, and its arguments lead into it in the order of its arguments, constants too.
        """
        if fold.kind == "statement":
            return list(read_values.items())
        if fold.scope is None:
            boxed = [i for i in read_values if i in self.index or i in self.snapshot.leaves]
            return [(i, read_values[i]) for i in boxed or read_values]
        tracks = self.snapshot.tracks
        arguments = [
            (i, read_values.get(i, x))
            for i, x in fold.scope.arguments
            if i in read_values or (np.ndim(x) and not tracks(i))
        ]
        first = {i for i, _ in arguments}
        return [*arguments, *((i, x) for i, x in read_values.items() if i not in first)]

    def link_changes(self, read: Mapping[int, int], layer: int) -> None:
        """Add what changed the variables inside of a layer's box, if a node of this picture did."""
        for variable, version in read.items():
            changed, by = self.latest.get(variable, (0, -1))
            if by >= 0 and version > changed and variable in self.inner:
                self.changed[by].append(layer)

    def fold_name(self, fold: Fold, count: int) -> str:
        """Return the label of a folded node."""
        if fold.kind == "loop":
            where = format_lines(fold.lines)
            first, last = fold.first, fold.last
            if (first, last) == (1, fold.total):
                return f"{where}, {fold.total:,} times"
            which = f"iteration {last:,}" if first == last else f"iterations {first:,}–{last:,}"
            return f"{where}, {which} of {fold.total:,}"
        if fold.kind in ("call", "layer", "statement"):
            return fold.name
        if fold.kind == "derivative":
            return self.derivative_label(fold.order, fold.positions[0])
        return f"{count:,} more operations"

    def add(self, step: Step, output_count: int = 0) -> None:
        """Add a step; its outputs become known when they are drawn."""
        self.steps.append(step)
        self.outputs.append([])
        self.assigned.append([])
        self.changed.append([])
        self.output_counts.append(output_count)

    def add_record(self, position: int, frame: int | None) -> None:
        """Add the operation of one record, and its values that are not in the graph yet."""
        record = self.subject.records[position]
        origins = self.snapshot.origins
        line, order = origins.sites[position][0], origins.orders[position]
        written = constants_in_text(self.subject, position)
        operands = [
            (v, i, text)
            for v, i, text in zip(record.values, record.ids, written, strict=True)
            if v is not None
        ]
        outputs = list(zip(record.outputs, record.output_ids, strict=True))
        shown = first_and_last(operands, self.max_inputs)
        index = len(self.steps)
        inputs = tuple(self.index_of(value, i, None, text) for value, i, text in shown)
        slopes = self.slopes(record) if len(operands) == len(shown) == len(record.ids) else ()
        hidden = len(operands) - len(shown)
        self.add(
            Step(index, record.name, inputs, (), line, order, 0, hidden, slopes, frame=frame),
            len(outputs),
        )
        # Before the results get boxes: `new_value` connects each box to its producer.
        self.producer.update((i, index) for _, i in outputs)
        results = [
            self.index_of(value, i, line) for value, i in first_and_last(outputs, self.max_inputs)
        ]
        # Formulas name every input, so they'd be wrong if some aren't drawn.
        if len(results) == 1 and not hidden:
            formulas = self.formulas(record, inputs, results[0])
            self.steps[index] = replace(self.steps[index], formulas=formulas)

    def slopes(self, record: Record) -> tuple[tuple[int, str], ...]:
        """The local derivatives of an operation on single real numbers, by the positions of its inputs.

        Complex numbers are omitted, because an operation passes back the conjugate of its derivative, and so are
        custom gradients, which are not always products with a derivative.
        """
        output_id = record.output_id
        if (
            isinstance(output_id, tuple)
            or np.ndim(record.output)
            or any(map(np.ndim, record.values))
        ):
            return ()
        if not all(map(has_numbers, (*record.values, record.output))):
            return ()
        if not is_chain(record):
            return ()
        slopes = []
        with silence(), np.errstate(all="ignore"):
            for position, i in enumerate(record.ids):
                edge = Edge(i, record, position, output_id)
                if self.snapshot.tracks(i) and edge.rule is not None:
                    with suppress(
                        Exception
                    ):  # a rule may call anything; the table of gradients shows the error
                        slopes.append((position, edge.slope))
        return tuple(slopes)

    def formulas(
        self, record: Record, inputs: Sequence[int], result: int
    ) -> tuple[tuple[int, str], ...]:
        """The local derivatives of an elementwise operation as formulas, by the positions of its inputs."""
        if len(inputs) != len(record.ids) or not is_chain(record):
            return ()
        names = [self.symbol(i) for i in inputs]
        pairs = [
            (position, local_derivative(record, position, names, self.symbol(result)))
            for position, i in enumerate(record.ids)
            if self.snapshot.tracks(i)
        ]
        return tuple((position, formula) for position, formula in pairs if formula)

    def symbol(self, index: int) -> Symbol:
        """Return the symbol of a value in a formula: its name or its text."""
        value = self.values[index]
        return symbol_of(value.name or value.symbol or value.text)

    def index_of(self, value: Any, i: int, line: int | None, written: str = "") -> int:
        """The index of a value in the graph, to which it is added if it is new.

        - `written`: The expression that the program writes for a constant.
        """
        if self.snapshot.tracks(i):
            if i in self.index:
                return self.index[i]
            subject = self.subject
            role = subject.roles.get(i, "computed")
            return self.new_value(i, subject.names.get(i, ""), role, value, line)
        name, role = self.labels.of(value)
        # The same array or name is one box; equal numbers are not, or all the 2s of a program would meet in one box.
        existing = self.constants.get(name or id(value))
        if existing is not None and (name or np.ndim(value)):
            return existing
        index = self.constants[name or id(value)] = len(self.values)
        box = Value(index, name, role, np.shape(value), dtype_name(value), "")
        if not name:
            box = replace(box, symbol=written)
        self.values.append(self.value(value, box))
        return index

    def value(self, value: Any, box: Value) -> Value:
        """A box with the text of its value, and the summary of an array."""
        if not np.shape(value):
            return replace(box, text=format_value(value), is_computed=not is_pending(value))
        summary = summarise(value)
        box = replace(box, is_computed=summary.is_computed, chunks=summary.chunks)
        return replace(box, text=summary.text, summary=_picture(summary))


def lasting(subject: Subject) -> dict[int, Any]:
    """The tensors that have a name at the end, and the derivatives of the report, by id."""
    derivatives = [(level, g) for (*_, level), g in subject.derivatives.gradients.items()]
    inner = [g for level, g in derivatives if g is not None and level < subject.order]
    named = [value for _, value in subject.context.named]
    return {id_of(x): x for x in [*named, *inner] if isinstance(x, Tensor) and has_id(x)}


def _picture(summary: Summary) -> Summary | None:
    """Return the summary of an array that has a picture, with only the cells that fit in a box."""
    return summary.in_box if summary.cells or summary.colours else None


SHAPING = {"like", "spread", "total"}
"""Functions in formulas that act on more than one element."""


def local_derivative(record: Record, position: int, inputs: Sequence[Symbol], y: Symbol) -> str:
    """The local derivative of an elementwise operation as a formula, or '' if it is a number, or not known.

    - `position`: The position of the input.
    - `y`: The symbol of the result.
    """
    formula = formula_of(record)
    written = formula and position < len(formula.adjoints) and formula.adjoints[position]
    slope = _slope(written) if written else ""
    if not slope:
        return ""
    names = dict(zip(INPUTS, inputs, strict=False)) | {"y": y, "pi": Symbol("π", r"\pi")}
    try:
        return rendered(slope, names).text
    except KeyError:
        return ""


@cache
def _slope(adjoint: str) -> str:
    """The formula of what an operation passes on, without the adjoint of the result.

    Examples
    --------
    >>> _slope("-(g * sin(a))"), _slope("g / (2 * y)"), _slope("g")
    ('-sin(a)', '1 / (2 * y)', '')
    """
    tree = ast.parse(adjoint, mode="eval").body
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    # The adjoint of a matrix product isn't g times a factor, so without g it is no local derivative.
    matrices = any(isinstance(node, (ast.MatMult, ast.Attribute)) for node in ast.walk(tree))
    if matrices or named & SHAPING or "g" not in named:
        return ""
    slope = _WithoutG().visit(tree)
    is_number = not any(isinstance(node, ast.Name) for node in ast.walk(slope))
    return "" if is_number else ast.unparse(slope)


# `ast` finds the methods below by the names of its nodes.
class _WithoutG(ast.NodeTransformer):
    """Replaces g by 1, and drops factors of 1."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(1) if node.id == "g" else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Mult):
            for factor, cofactor in ((left, right), (right, left)):
                if isinstance(factor, ast.Constant) and factor.value == 1:
                    return cofactor  # type: ignore[no-any-return]
        return ast.BinOp(left, node.op, right)
