"""The derivative of what a tape recorded, as a program: its records are run again on symbols, and differentiated."""

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
from tapemagic.programs.derivatives import derivative_name
from tapemagic.programs.naming import give_name, identifier
from tapemagic.programs.passes import simplified
from tapemagic.programs.program import Guard, Node, Program, arguments_of, nodes_in
from tapemagic.programs.rerun import Mark, Placed, RecordTrace, Rerun, Words
from tapemagic.programs.source import Text
from tapemagic.programs.symbol import Symbol
from tapemagic.programs.trace import tracing

LONGEST = 60
"""The most characters of the names of sources in the first sentence of a docstring."""

Group = Sequence[Any]
"""Tensors of whose sum the gradients are taken, as those of a list given to ``tape.gradient``."""


def recorded_program(
    contents: Contents,
    groups: Sequence[Group],
    sources: Sequence[Any],
    order: int,
    words: Words,
    name: str,
    notes: Mapping[str, Any],
) -> Program:
    """The values and the derivatives of targets as a program of NumPy calls.

    Parameters
    ----------
    contents : Contents
        Of a tape that has its records.
    groups : sequence of sequence of Tensor or Variable
        The targets: the derivatives are those of the sum of each group.
    sources : sequence of Tensor or Variable
        Those that no record made become the first parameters, in this order.
    order : int
        The highest order, in the sense of nested tapes.
    words : Words
        The user's names and lines.
    name : str
        The name of the program's function.
    notes : mapping of str to object
        Those of the program: `summary`, the first sentence of its docstring, and the user's `statements`.

    Returns
    -------
    Program
        Its results are the targets, then for each order and each group of targets the derivatives with respect to the
        sources; None where there is none.

    Raises
    ------
    SourceError
        If it cannot be written.
    """
    targets = [x for group in groups for x in group]
    with silence(), np.errstate(all="ignore"), tracing(trace := RecordTrace(words.places)):
        rerun = Rerun(trace, contents, words)
        given: dict[int, Any] = {}
        for x in sources:
            if id_of(x) not in rerun.made:
                symbol = rerun.watched(_key(x), rerun.recorded_value(x), "source")
                given[_key(x)] = trace.node(symbol)
        own = len(trace.inputs)
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
            raise SourceError(_in_words(trace, contents))
    program = Program(list(trace.inputs), trace.body, results, [], name, notes=dict(notes))
    if "statements" in notes:
        program.notes["statements"] = {**trace.names.texts, **notes["statements"]}
        program.notes["times"] = {**trace.names.times, **notes["times"]}
    trace.names.forget()
    rerun.note_exits()
    program.notes["read"] = True
    program.notes["notes"] = list(dict.fromkeys(rerun.notes))
    program.notes["inputs"] = rerun.meanings
    program.notes["results"] = meanings
    program = simplified(program)
    _name_copies(program.results[len(targets) :], [given.get(_key(x)) for x in sources])
    if rerun.guessed and any(isinstance(entry, Guard) for entry in program.body):
        raise SourceError(
            "the derivative branches on values which the tape did not keep: write the function with "
            "tapemagic.function, or record it on smaller arrays"
        )
    return _with_used_inputs(program, own)


@dataclass(frozen=True)
class Line:
    """A line of a program.

    Attributes
    ----------
    text : str
    marks : frozenset of Mark
        The records to whose values and gradients it belongs.
    """

    text: str
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True)
class SourceText:
    """The text of a program, by lines."""

    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "".join(f"{line.text}\n" for line in self.lines)


def text_of(program: Program) -> SourceText:
    """The text of a derivative, with the records to which its lines belong."""
    text = Text(program)
    return SourceText(
        tuple(
            Line(line, frozenset(mark for node in text.nodes.get(k, ()) for mark in marks_of(node)))
            for k, line in enumerate(text.lines, 1)
        )
    )


def marks_of(node: Node) -> Sequence[Mark]:
    """The records to which a node belongs."""
    return node.site.marks if isinstance(node.site, Placed) else ()


def _name_gradients(
    nodes: Sequence[Any], groups: int, sources: Sequence[Any], names: Mapping[int, str]
) -> None:
    """Name derivatives that a sweep computed without a value of the program's at hand, such as of constants alone."""
    for k, node in enumerate(nodes):
        order, to = 1 + k // (groups * len(sources)), names.get(id_of(sources[k % len(sources)]))
        if to and isinstance(node, Node) and node.back is not None and node.back.to is None:
            give_name(node, derivative_name(order, to))


def _name_copies(nodes: Sequence[Any], given: Sequence[Any]) -> None:
    """Name copies of one value by the sources whose derivatives they are."""
    for k, node in enumerate(nodes):
        source = given[k % len(given)]
        known = source is not None and isinstance(node, Node) and node.back is not None
        if known and node.function is np.copy:
            node.back = node.back._replace(to=source)


def meanings_of(
    gradients: Sequence[Any],
    groups: Sequence[Group],
    sources: Sequence[Any],
    order: int,
    names: Mapping[int, str],
) -> list[str]:
    """The words for derivatives, in their order."""
    found: list[str] = []
    for level in range(1, order + 1):
        for group in groups:
            of = identifier(names.get(id_of(group[0]), "")) if len(groups) > 1 else ""
            what = "gradient" if level == 1 else f"derivative of order {level}"
            for x in sources:
                to = identifier(names.get(id_of(x), "")) or "the source without a name"
                exists = gradients[len(found)] is not None
                words = f"{what}{' of ' * bool(of)}{of} with respect to {to}"
                found.append(f"the {words}" if exists else f"as there is no {words}")
    return found


def needed_records(records: Sequence[Any], targets: Sequence[Any]) -> list[int]:
    """The positions of the records from which targets were computed, oldest first.

    With a call that brings its own gradient come the records inside of it, whose values the gradient may read.
    """
    wanted = {id_of(x) for x in targets}
    positions: list[int] = []
    inside: list[tuple[int, int]] = []
    for position in range(len(records) - 1, -1, -1):
        record = Record._make(records[position])
        ids = record.output_ids
        within = any(start < ids[0] < end for start, end in inside)
        if wanted.isdisjoint(ids) and not within:
            continue
        positions.append(position)
        wanted.update(filter(is_id, record.ids))
        if record.operation.function is called and record.params:
            inside.append((record.params["call"].start_time, ids[0]))
    return positions[::-1]


def _differentiated(
    tape: Tape, trace: RecordTrace, groups: list[list[Any]], sources: list[Any], order: int
) -> list[Any]:
    """The derivatives order by order, each with respect to all sources; those below the last go onto the tape."""
    found: list[Any] = []
    below: list[list[Any]] = []
    for level in range(1, order + 1):
        begins, first = len(tape.records), len(trace.body)
        now: list[list[Any]] = []
        trace.level = level
        with ExitStack() as stack:
            stack.enter_context(tape if level < order else nullcontext())
            for k, group in enumerate(groups):
                trace.lists(tape.records)
                if level == 1:
                    seeds = [_ones(x, trace) for x in group]
                    now.append(list(tape.gradient(group, sources, seeds)))
                    continue
                pairs = zip(below[k], sources, strict=True)
                row = [
                    None if g is None else tape.gradient(g, x, _ones(g, trace)) for g, x in pairs
                ]
                now.append(row)
        _mark_recorded(tape, trace, begins, first)
        found += [g for row in now for g in row]
        below = now
    return found


def _ones(x: Any, trace: RecordTrace) -> Any:
    """The gradient from which a sweep begins, as a constant of the program, so that what follows from it is traced."""
    value = ones(unwrap(x))
    node = trace.node(value)
    node.given = False
    return wrap(Symbol(trace, node, value))


def _mark_recorded(tape: Tape, trace: RecordTrace, begins: int, first: int) -> None:
    """Say of what a sweep computed to which record of the sweep itself it belongs."""
    made = {}
    for position, record in enumerate(tape.records[begins:], begins):
        for y in record.outputs:
            if type(y) is Symbol:
                made[y._node] = position
    pending: list[Any] = []
    for entry in trace.body[first:]:
        pending.append(entry)
        if entry in made:
            for each in pending:
                if isinstance(each.site, Placed):
                    each.site.marks += ((0, made[entry]),)
            pending = []


def _key(x: Any) -> int:
    return id_of(x) if is_id(id_of(x)) else -id(x)


def _symbolic(x: Traced, rerun: Rerun, known: dict[int, Tensor]) -> Tensor:
    """A target or source with the symbol of its value, one tensor for each."""
    i = _key(x)
    if i in known:
        return known[i]
    value = rerun.value(i)
    if value is None:
        is_parameter = is_id(i) or i in rerun.asked
        value = rerun.watched(i, rerun.recorded_value(x)) if is_parameter else unwrap(x)
    found = known[i] = wrap(value, id_of(x))
    return found


def _in_words(trace: RecordTrace, contents: Contents) -> str:
    """The reasons why the records are no program."""
    how, site = trace.reasons[0]
    level, position = getattr(site, "marks", ((0, -1),))[0]
    known = 0 <= position < len(contents.records)
    of = Record._make(contents.records[position]).name if known else ""
    where = f" in {'the derivative of ' * bool(level)}{of}" if of else ""
    return f"what the tape recorded cannot be written as a program, because of {how}{where}"


def _with_used_inputs(program: Program, count: int) -> Program:
    """A program without the parameters that it does not read, but for those of its sources, which come first."""
    read: set[Node] = set(nodes_in(program.results))
    for entry in program.body:
        read.update(arguments_of(entry))
    inputs = [node for k, node in enumerate(program.inputs) if k < count or node in read]
    return Program(
        inputs, program.body, program.results, program.assigned, program.name, program.notes
    )


def source_of_tape(tape: Tape, target: Any, sources: Any, order: Any, here: Any) -> str:
    """The text of the derivative of what a tape recorded, for ``tape.source``.

    Parameters
    ----------
    tape : Tape
    target, sources, order
        As given to ``tape.source``, which states the errors.
    here : NamesHere
        The caller's names.
    """
    if target is None:
        raise NotATensorError(
            "the target of tape.source is None: give the tensor, or a structure of tensors, to differentiate"
        )
    group, wanted = tensors(target, "a target"), tensors(sources, "a source")
    order = checked_order(order)
    names = here.names | _names_in_models(wanted, here.names)
    words = Words(names, here.arrays, lambda _position: None)
    name = here.target or "target"
    asked = [names.get(id_of(x), "") for x in wanted]
    program = recorded_program(
        contents_of(tape),
        *([group], wanted, order, words),
        name_of(name, order),
        {"summary": summary([name], asked, order, is_sum([group]))},
    )
    return text_of(program).text


def _names_in_models(sources: Sequence[Any], names: Mapping[int, str]) -> dict[int, str]:
    """The names of Variables of models that the caller knows by their places in a list alone."""
    variables = [x for x in sources if isinstance(x, Variable) and "/" in x.name]
    return {id_of(x): x.name for x in variables if not names.get(id_of(x), "").isidentifier()}


def name_of(target: str, order: int) -> str:
    """The name of the function that computes a target and its derivatives."""
    return f"{identifier(target) or 'target'}_and_{'gradients' if order == 1 else 'derivatives'}"


def is_sum(groups: Sequence[Group]) -> bool:
    """Whether any group of targets has more numbers than one, so that the sum of them is differentiated."""
    return any(sum(x.size for x in group) != 1 for group in groups)


def summary(targets: Sequence[str], sources: Sequence[str], order: int, of_sum: bool) -> str:
    """The first sentence of the docstring of a program.

    `of_sum` is that of `is_sum`: the derivatives are those of a sum.

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
    found = f"the {what} of {owner} {'sums' if several else 'sum'}" if of_sum else f"{owner} {what}"
    of = f"{_listed(targets, 'targets')}{',' * several} and"
    return f"Compute {of} {found} with respect to {_listed(sources, 'sources')}{up_to}."


def _listed(names: Sequence[str], what: str) -> str:
    """Names as words, or how many there are of `what`, if that is too long."""
    *most, last = [printable_name(x) for x in names] or ["nothing"]
    words = f"{', '.join(most)} and {last}" if most else last
    return f"{len(names)} {what}" if most and len(words) > LONGEST else words


def printable_name(name: str) -> str:
    """A name as it stands in the program."""
    return identifier(name) or "a source without a name"


def checked_order(order: Any) -> int:
    """An order of derivatives, from 1 to 9."""
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or not 1 <= order <= 9:
        raise OptionError(f"order has to be a whole number from 1 to 9, not {shown(order)}")
    return int(order)
