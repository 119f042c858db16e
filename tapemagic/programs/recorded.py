"""The derivative of recorded operations as a program, for `tape.source` and the Code tab.

The records of a tape are run again on symbols, and differentiated under a trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapemagic.engine.functions.pullback import called
from tapemagic.engine.nest import tensors
from tapemagic.engine.recording import Record, is_id, silence
from tapemagic.engine.tape.base_tape import Contents, contents_of
from tapemagic.engine.tape.cotangents import ones
from tapemagic.engine.tape.tape import Tape, tape_of
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor, Traced, id_of, unwrap, wrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import NotATensorError, OptionError, SourceError
from tapemagic.programs.passes import simplified
from tapemagic.programs.program import Guard, Node, Program, arguments_of, nodes_in
from tapemagic.programs.rerun import Mark, Placed, RecordTrace, Rerun, Words
from tapemagic.programs.text.derivatives import derivative_name
from tapemagic.programs.text.naming import give_name, identifier
from tapemagic.programs.text.source import Text
from tapemagic.programs.tracing.symbol import Symbol
from tapemagic.programs.tracing.trace import tracing

MAX_LENGTH = 60
"""Maximum number of characters of the names of sources in the first sentence of a docstring."""

Group = Sequence[Any]
"""Targets whose sum is differentiated, like a list of targets in ``tape.gradient``."""


def recorded_program(
    contents: Contents,
    groups: Sequence[Group],
    sources: Sequence[Any],
    order: int,
    words: Words,
    name: str,
    notes: Mapping[str, Any],
) -> Program:
    """Return the values and the derivatives of targets as a program of NumPy calls.

    - `contents`: The contents of a tape that still has its records.
    - `groups`: Sequence of sequence of Tensor or Variable. The targets. The sum of each group is differentiated.
    - `sources`: Sequence of Tensor or Variable. Sources that aren't results of records become the first parameters, in
      this order.
    - `order`: The highest order of derivatives, as computed by nested tapes.
    - `words`: The user's names and lines.
    - `name`: The name of the program's function.
    - `notes`: The notes of the program: `summary`, the first sentence of its docstring, and the user's `statements`.

    Returns
    -------
    Program
        Its results are the targets, then for each order and each group of targets the derivatives with respect to the
        sources, or None.

    Raises SourceError if the records can't be written as a program.
    """
    targets = [x for group in groups for x in group]
    # Running the records again must not be recorded by other tapes, nor repeat their warnings.
    with silence(), np.errstate(all="ignore"), tracing(trace := RecordTrace(words.places)):
        rerun = Rerun(trace, contents, words)
        parameters: dict[int, Any] = {}
        for x in sources:
            if id_of(x) not in rerun.result_ids:
                symbol = rerun.watched(_key(x), rerun.recorded_value(x), "source")
                parameters[_key(x)] = trace.node(symbol)
        count = len(trace.inputs)
        rerun.run(needed_records(contents.records, targets))
        tape = tape_of(contents._replace(records=tuple(rerun.records)))
        symbolic: dict[int, Tensor] = {}
        y = [[_symbolic(x, rerun, symbolic) for x in group] for group in groups]
        x = [_symbolic(each, rerun, symbolic) for each in sources]
        gradients = _differentiated(tape, trace, y, x, order)
        results = [trace.node(unwrap(each)) for group in y for each in group]
        results += [None if g is None else trace.node(unwrap(g)) for g in gradients]
        _name_gradients(results[len(targets) :], len(groups), sources, words.names)
        meanings = [""] * len(targets) + meanings_of(gradients, groups, sources, order, words.names)
        if trace.reasons:
            raise SourceError(_why_no_program(trace, contents))
    program = Program(list(trace.inputs), trace.body, results, [], name, notes=dict(notes))
    if "statements" in notes:
        program.notes["statements"] = {**trace.names.texts, **notes["statements"]}
        program.notes["times"] = {**trace.names.times, **notes["times"]}
    trace.names.forget()
    rerun.note_exits()
    program.notes["read"] = True  # this text isn't run, so the passes favor readability
    program.notes["notes"] = list(dict.fromkeys(rerun.notes))
    program.notes["inputs"] = rerun.meanings
    program.notes["results"] = meanings
    program = simplified(program)
    # Equal gradients are one node, which `with_separate_results` copies for each result.
    _name_copies(program.results[len(targets) :], [parameters.get(_key(x)) for x in sources])
    # A guard's value comes from stand-ins, so the program may be for a branch that the user's code didn't take.
    if rerun.guessed and any(isinstance(entry, Guard) for entry in program.body):
        raise SourceError(
            "the derivative branches on values that the tape did not keep: write the function with "
            "tapemagic.function, or record it on smaller arrays"
        )
    return _without_unread_inputs(program, count)


@dataclass(frozen=True)
class Line:
    """A line of a program.

    - `marks`: The records whose values or gradients it computes.
    """

    text: str
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True)
class SourceText:
    """The lines of a program."""

    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "".join(f"{line.text}\n" for line in self.lines)


def text_of(program: Program) -> SourceText:
    """Return the text of a derivative. Each line has the records that it belongs to."""
    text = Text(program)
    return SourceText(
        tuple(
            Line(line, frozenset(mark for node in text.nodes.get(k, ()) for mark in marks_of(node)))
            for k, line in enumerate(text.lines, 1)
        )
    )


def marks_of(node: Node) -> Sequence[Mark]:
    """Return the records that a node belongs to."""
    return node.site.marks if isinstance(node.site, Placed) else ()


def _name_gradients(
    nodes: Sequence[Any], groups: int, sources: Sequence[Any], names: Mapping[int, str]
) -> None:
    """Name derivatives that a sweep computed without any value of the program, such as constants."""
    for k, node in enumerate(nodes):
        order, to = 1 + k // (groups * len(sources)), names.get(id_of(sources[k % len(sources)]))
        if to and isinstance(node, Node) and node.back is not None and node.back.to is None:
            give_name(node, derivative_name(order, to))


def _name_copies(nodes: Sequence[Any], parameters: Sequence[Any]) -> None:
    """Name copies of one value after the sources that the target was differentiated with respect to."""
    for k, node in enumerate(nodes):
        source = parameters[k % len(parameters)]
        is_derivative = source is not None and isinstance(node, Node) and node.back is not None
        if is_derivative and node.function is np.copy:
            node.back = node.back._replace(to=source)


def meanings_of(
    gradients: Sequence[Any],
    groups: Sequence[Group],
    sources: Sequence[Any],
    order: int,
    names: Mapping[int, str],
) -> list[str]:
    """Describe the derivatives, in their order."""
    meanings: list[str] = []
    for level in range(1, order + 1):
        for group in groups:
            of = identifier(names.get(id_of(group[0]), "")) if len(groups) > 1 else ""
            what = "gradient" if level == 1 else f"derivative of order {level}"
            for x in sources:
                to = identifier(names.get(id_of(x), "")) or "the source without a name"
                exists = gradients[len(meanings)] is not None
                words = f"{what}{' of ' * bool(of)}{of} with respect to {to}"
                meanings.append(f"the {words}" if exists else f"as there is no {words}")
    return meanings


def needed_records(records: Sequence[Any], targets: Sequence[Any]) -> list[int]:
    """Return the positions of the records that the targets depend on, oldest first."""
    needed = {id_of(x) for x in targets}
    positions: list[int] = []
    inside: list[tuple[int, int]] = []
    for position in range(len(records) - 1, -1, -1):
        record = Record._make(records[position])
        ids = record.output_ids
        # A custom gradient may read any value that its function computed.
        within = any(start < ids[0] < end for start, end in inside)
        if needed.isdisjoint(ids) and not within:
            continue
        positions.append(position)
        needed.update(filter(is_id, record.ids))
        if record.operation.function is called and record.params:
            inside.append((record.params["call"].start_time, ids[0]))
    return positions[::-1]


def _differentiated(
    tape: Tape, trace: RecordTrace, groups: list[list[Any]], sources: list[Any], order: int
) -> list[Any]:
    """Return the derivatives of each order with respect to all sources."""
    derivatives: list[Any] = []
    below: list[list[Any]] = []
    for level in range(1, order + 1):
        begins, first = len(tape.records), len(trace.body)
        rows: list[list[Any]] = []
        trace.level = level
        # The sweeps of all orders except the last are recorded, because the next order differentiates them.
        with ExitStack() as stack:
            stack.enter_context(tape if level < order else nullcontext())
            for k, group in enumerate(groups):
                trace.set_swept_records(tape.records)
                if level == 1:
                    seeds = [_ones(x, trace) for x in group]
                    rows.append(list(tape.gradient(group, sources, seeds)))
                    continue
                pairs = zip(below[k], sources, strict=True)
                row = [
                    None if g is None else tape.gradient(g, x, _ones(g, trace)) for g, x in pairs
                ]
                rows.append(row)
        _mark_recorded(tape, trace, begins, first)
        derivatives += [g for row in rows for g in row]
        below = rows
    return derivatives


def _ones(x: Any, trace: RecordTrace) -> Any:
    """Return the gradient that a sweep starts with as a constant of the program, so that the sweep is traced."""
    value = ones(unwrap(x))
    node = trace.node(value)
    node.from_user = False  # the user didn't choose these numbers, so they may be called "ones"
    return wrap(Symbol(trace, node, value))


def _mark_recorded(tape: Tape, trace: RecordTrace, begins: int, first: int) -> None:
    """Mark the nodes of a sweep with the records of the sweep."""
    positions = {}
    for position, record in enumerate(tape.records[begins:], begins):
        for y in record.outputs:
            if type(y) is Symbol:
                positions[y._node] = position
    pending: list[Any] = []
    for entry in trace.body[first:]:
        pending.append(entry)
        if entry in positions:
            for each in pending:
                if isinstance(each.site, Placed):
                    each.site.marks += ((0, positions[entry]),)
            pending = []


def _key(x: Any) -> int:
    # Tensors that no tape tracks have no id. The negative id of the object can't equal an id of a tape.
    return id_of(x) if is_id(id_of(x)) else -id(x)


def _symbolic(x: Traced, rerun: Rerun, tensors_by_id: dict[int, Tensor]) -> Tensor:
    """Return the tensor that has the symbol of a target or source as its value."""
    i = _key(x)
    if i in tensors_by_id:
        return tensors_by_id[i]
    value = rerun.value(i)
    if value is None:
        is_parameter = is_id(i) or i in rerun.requested
        value = rerun.watched(i, rerun.recorded_value(x)) if is_parameter else unwrap(x)
    tensor = tensors_by_id[i] = wrap(value, id_of(x))
    return tensor


def _why_no_program(trace: RecordTrace, contents: Contents) -> str:
    """Describe why the records can't be written as a program."""
    how, site = trace.reasons[0]
    level, position = getattr(site, "marks", ((0, -1),))[0]
    exists = 0 <= position < len(contents.records)
    of = Record._make(contents.records[position]).name if exists else ""
    where = f" in {'the derivative of ' * bool(level)}{of}" if of else ""
    return f"the recorded operations cannot be written as a program, because of {how}{where}"


def _without_unread_inputs(program: Program, count: int) -> Program:
    """Drop the parameters that a program doesn't read, except the first `count`, which are sources."""
    read: set[Node] = set(nodes_in(program.results))
    for entry in program.body:
        read.update(arguments_of(entry))
    inputs = [node for k, node in enumerate(program.inputs) if k < count or node in read]
    return Program(
        inputs, program.body, program.results, program.assigned, program.name, program.notes
    )


def source_of_tape(tape: Tape, target: Any, sources: Any, order: Any, here: Any) -> str:
    """Return the derivative of recorded operations as text, for ``tape.source``.

    - `target`, `sources`, `order`: The arguments of ``tape.source``, whose docstring lists the errors.
    - `here`: The caller's names.
    """
    if target is None:
        raise NotATensorError(
            "the target of tape.source is None: pass the tensor, or the structure of tensors, to differentiate"
        )
    group, source_tensors = tensors(target, "a target"), tensors(sources, "a source")
    order = checked_order(order)
    names = here.names | _names_in_models(source_tensors, here.names)
    words = Words(names, here.arrays, lambda _position: None)
    name = here.target or "target"
    source_names = [names.get(id_of(x), "") for x in source_tensors]
    program = recorded_program(
        contents_of(tape),
        *([group], source_tensors, order, words),
        name_of(name, order),
        {"summary": summary([name], source_names, order, is_sum([group]))},
    )
    return text_of(program).text


def _names_in_models(sources: Sequence[Any], names: Mapping[int, str]) -> dict[int, str]:
    """Return the paths in models of Variables that the caller only has in lists."""
    variables = [x for x in sources if isinstance(x, Variable) and "/" in x.name]
    return {id_of(x): x.name for x in variables if not names.get(id_of(x), "").isidentifier()}


def name_of(target: str, order: int) -> str:
    """Return the name of the function that computes a target and its derivatives."""
    return f"{identifier(target) or 'target'}_and_{'gradients' if order == 1 else 'derivatives'}"


def is_sum(groups: Sequence[Group]) -> bool:
    """Return True if any group of targets has several elements, so their sum is differentiated."""
    return any(sum(x.size for x in group) != 1 for group in groups)


def summary(targets: Sequence[str], sources: Sequence[str], order: int, of_sum: bool) -> str:
    """Return the first sentence of the docstring of a program.

    `of_sum` is the result of `is_sum`.

    Examples
    --------
    >>> summary(["y"], ["x"], 1, False)
    'Compute y and its gradient with respect to x.'
    >>> summary(["y"], ["x"], 1, True)
    'Compute y and the gradient of its sum with respect to x.'
    >>> summary(["p", "q"], ["w", "b"], 2, False)
    'Compute p and q, and their derivatives with respect to w and b, up to order 2.'
    """
    several = len(targets) > 1
    owner = "their" if several else "its"
    what = (
        "derivatives" if order > 1 else "gradients" if several or len(sources) > 1 else "gradient"
    )
    up_to = f", up to order {order}" * (order > 1)
    results = (
        f"the {what} of {owner} {'sums' if several else 'sum'}" if of_sum else f"{owner} {what}"
    )
    of = f"{_listed(targets, 'targets')}{',' * several} and"
    return f"Compute {of} {results} with respect to {_listed(sources, 'sources')}{up_to}."


def _listed(names: Sequence[str], what: str) -> str:
    """Join names as in a sentence. A list that is too long becomes the number of names."""
    *first, last = [printable_name(x) for x in names] or ["nothing"]
    words = f"{', '.join(first)} and {last}" if first else last
    return f"{len(names)} {what}" if first and len(words) > MAX_LENGTH else words


def printable_name(name: str) -> str:
    """Convert a name to the identifier that the program uses."""
    return identifier(name) or "a source without a name"


def checked_order(order: Any) -> int:
    """Return an order of derivatives as an int, and raise an error unless it's from 1 to 9."""
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or not 1 <= order <= 9:
        raise OptionError(f"order must be an integer from 1 to 9, not {shown(order)}")
    return int(order)
