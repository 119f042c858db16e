"""Records of a tape, run again on symbols, so that a trace writes down what they compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.events import Event
from tapemagic.engine.functions.pullback import Call, called
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.recording import CONSTANT, FOREIGN, Absent, Record, is_id
from tapemagic.engine.registry import HARMLESS
from tapemagic.engine.tape.base_tape import Contents
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import SourceError
from tapemagic.programs.calls import user_frame
from tapemagic.programs.custom import symbols_in
from tapemagic.programs.literals import literal
from tapemagic.programs.naming import give_name, identifier
from tapemagic.programs.program import Node, Site
from tapemagic.programs.symbol import Symbol, held
from tapemagic.programs.trace import MOST_NODES, Trace

FORM = HARMLESS | {"order", "kind", "stable", "device", "signature"}
"""Arguments which a record does not hold, and which do not change numbers, but for a dtype, which the result shows."""

MOST_EXITS = 3
"""The most ways out of the tape that a note names."""

CONVERSIONS = frozenset(
    {"float()", "int()", "complex()", ".item()", ".numpy()", ".tolist()", "np.asarray"}
)
"""Exits that change nothing, with which numbers are printed and logged, too."""

SHORT = 8
"""The most characters of a number that a program writes down; others were computed."""

UNNAMED = "which had no name where this was written"

TOO_LONG = (
    f"what the tape recorded and its derivative are more than {MOST_NODES:,} operations, which is the most that are "
    "written as a program: record fewer iterations"
)

LITERAL = 8
"""The most elements of an unnamed array that stands in the program as numbers."""


class Words(NamedTuple):
    """The user's words for what a tape recorded.

    Attributes
    ----------
    names : mapping of int to str
        Names of values, by their ids.
    arrays : sequence of (str, array)
        Arrays that the program can name, for those that the tape has copies of.
    places : callable
        Gives the line of a record, by its position; None where it is not known.
    """

    names: Mapping[int, str]
    arrays: Sequence[tuple[str, Any]]
    places: Callable[[int], Site | None]


Mark = tuple[int, int]
"""The order of a derivative, 0 for what was recorded itself, and the position of the record that it belongs to."""


class Placed(Site):
    """The line of a node, and the records that it belongs to.

    Attributes
    ----------
    marks : tuple of Mark
    own : bool
        Whether it is of a function of the user's that computes a gradient, as `Back.own` says.
    """

    marks: tuple[Mark, ...] = ()
    own = False


class RecordTrace(Trace):
    """A trace of records: each node has the line on which its record was made, and not the line that asks.

    Attributes
    ----------
    mark : Mark or None
        The record that is being run, or differentiated.
    level : int
        The order of the derivative that is being computed.
    """

    def __init__(self, places: Callable[[int], Site | None]) -> None:
        super().__init__()
        self.mark: Mark | None = None
        self.level = 0
        self._places = places
        self._positions: dict[int, int] = {}
        self._known: dict[int, tuple[Any, Node]] = {}

    def at(self, position: int) -> None:
        """Say that a record is being run."""
        self.mark = 0, position

    def knows(self, value: Any, node: Node) -> None:
        """Say that an array, by its identity, is the value of a node."""
        self._known[id(value)] = value, node

    def known(self, value: Any) -> Symbol | None:
        """The symbol for an array that is the value of a node, by its identity; None for any other."""
        found = self._known.get(id(value))
        return Symbol(self, found[1], value) if found else None

    def lists(self, records: Sequence[Any]) -> None:
        """Say which records the sweep goes through, for their positions."""
        self._positions = {_first(record): k for k, record in enumerate(records)}

    def site(self, own: int = 1) -> Site | None:  # noqa: ARG002 (as of `Trace`)
        """The line of the record that is being run or differentiated."""
        if self.mark is None:
            return None
        frame = user_frame() if self.back is not None else None
        theirs = frame is not None and frame is not self._sweeping
        found = self.names.site(frame) if theirs else self._places(self.mark[1])
        place = Placed(*(found or ("", 0)))
        place.marks = (self.mark,)
        place.own = theirs
        return place

    def is_own(self, site: Site | None) -> bool:
        """Whether a line is of a function of the user's that computes a gradient."""
        return isinstance(site, Placed) and site.own

    def sweep(self, records: Any, grads: dict[int, Any]) -> Iterator[Any]:
        """The records of a reverse sweep, backwards; each is marked while it is differentiated."""
        before = self.mark
        try:
            for record in super().sweep(records, grads):
                self.check_length()
                position = self._positions.get(_first(record))
                self.mark = before if position is None else (self.level, position)
                yield record
        finally:
            self.mark = before

    def check_length(self) -> None:
        """Raise an error if there are too many calls for a program, so that the trace was closed."""
        if not self.writes:
            raise SourceError(TOO_LONG)

    def _constant(self, value: Any) -> Any:
        known = self._known.get(id(value))
        return known[1] if known else super()._constant(value)


class Rerun:
    """The values of a tape as symbols.

    Parameters
    ----------
    trace : RecordTrace
    contents : Contents
        Of a tape that has its records.
    words : Words

    Attributes
    ----------
    records : list of tuple
        The records with symbols in the place of values: those that are needed, in their places among the others.
    meanings : dict of Input to str
        What parameters are which have no name of the user's.
    notes : list of str
        What a reader has to know of the program.
    guessed : bool
        Whether values were not kept, so that others of their shape stand in for them.
    """

    def __init__(self, trace: RecordTrace, contents: Contents, words: Words) -> None:
        self.trace = trace
        self.contents = contents
        self.words = words
        self.records: list[Any] = list(contents.records)
        self.meanings: dict[Node, str] = {}
        self.notes: list[str] = []
        self.guessed = False
        self._ran: Sequence[int] = ()
        self._values: dict[int, Any] = {}
        self._versions: dict[tuple[int, int], Any] = {}
        self._arrays: list[tuple[Any, Any]] = []
        self._inexact: set[Node] = set()
        self._kept = _values_kept(contents.records)
        self._assigned = {e.number for e in contents.events if e.kind in ("assigned", "changed")}
        self.made = {i for record in contents.records for i in _outputs(record)}
        self.asked: set[int] = set()

    def watched(self, i: int, value: Any, unnamed: str = "value") -> Any:
        """The symbol of a value that no record made, such as a source: a parameter of the program.

        One without a name of the user's is called `unnamed`.
        """
        self.asked.add(i)
        version = id(value) if i in self._assigned else 0
        if isinstance(value, Absent) and i in self._assigned:
            raise SourceError(
                f"{self.words.names.get(i) or 'a Variable'} was assigned while the tape recorded, and its value at "
                "one of the operations was not kept: write the function with tapemagic.function, whose source is known"
            )
        found = self._versions.get((i, version))
        if found is None:
            name = identifier(self.words.names.get(i, ""))
            later = any(known == i for known, _ in self._versions)
            what = "" if name else f"a {unnamed} without a name"
            name = name or self._unlike_names(unnamed)
            what = f"a later value of {name}" if later else what
            found = self._versions[i, version] = self._parameter(value, name, i, what)
        return found

    def recorded_value(self, x: Any) -> Any:
        """The value of a tensor when it was recorded: a Variable may have another one since."""
        kept = self._kept.get(id_of(x))
        if kept is None and isinstance(x, Variable):
            return Absent(x.shape, x.dtype)
        return unwrap(x) if kept is None else kept

    def value(self, i: int) -> Any:
        """The symbol of a value on the tape, by its id; None if it is not there."""
        return self._values.get(i)

    def run(self, needed: Sequence[int]) -> None:
        """Run the records at some positions, oldest first."""
        if len(needed) > MOST_NODES:
            raise SourceError(TOO_LONG)
        self._ran = needed
        for position in needed:
            self.trace.at(position)
            self._run(position, Record._make(self.contents.records[position]))
            self.trace.check_length()
        self.trace.mark = None

    def note_exits(self) -> None:
        """Note that numbers were taken out of the tape, or drawn, with which the targets were computed."""
        records = [Record._make(self.contents.records[k]) for k in self._ran]
        values = {i for record in records for i in record.ids}
        exits = [e for e in self.contents.events if e.kind == "exit"]
        hows = [
            e.what
            for e in exits
            if (e.number in values and any(max(r.output_ids) > e.time for r in records))
            or any(self._may_read(record, e) for record in records)
        ]
        if hows:
            self.notes.append(
                f"What left the tape ({', '.join(dict.fromkeys(map(str, hows[:MOST_EXITS])))}) is a constant here, as "
                "it was when this was recorded."
            )
        if any(i < FOREIGN for i in values):
            self.notes.append(
                "What was computed from constants, which the tape does not watch, is a number here."
            )
        if any(record.operation.function is masked for record in records):
            self.notes.append(
                "The mask that dropout drew is a constant here, as it was when this was recorded."
            )

    def _may_read(self, record: Record, event: Event) -> bool:
        """Whether an operation, by its arguments, may read what left the tape apart from the way to the targets."""
        if max(record.output_ids) < event.time:
            return False
        if (
            event.what not in CONVERSIONS
        ):  # such as a comparison, of which only the way depends on it
            return True
        left = self._kept.get(event.number)
        known = np.ravel([] if left is None else left)[:LITERAL]
        known = np.trunc(known) if event.what == "int()" and known.dtype.kind == "f" else known
        pairs = zip(record.values, record.ids, strict=True)
        return any(self._may_be(x, i, known, event.time) for x, i in pairs)

    def _may_be(self, x: Any, i: int, known: Any, time: int) -> bool:
        """Whether an argument was made of some known numbers after a time: it has one, or is no short number."""
        if is_id(i) or x is None or isinstance(x, Absent):
            return False
        if i not in (CONSTANT, FOREIGN):
            return -i > time
        value = np.asarray(x)
        if value.dtype.kind not in "iufc" or (value.ndim and self._name_of(value, i)):
            return False
        numbers = value.ravel()[:LITERAL]
        return bool(np.isin(numbers, known).any()) or any(
            len(str(v)) > SHORT for v in numbers.tolist()
        )

    def _run(self, position: int, record: Record) -> None:
        values = tuple(map(self._input, record.values, record.ids))
        outputs = record.outputs
        found: Any = None
        if record.operation.function is not called:
            found = self._computed(record, values)
        if found is None:
            found = [
                self._not_computed(record, y, i)
                for y, i in zip(outputs, record.output_ids, strict=True)
            ]
        for symbol, y, i in zip(found, outputs, record.output_ids, strict=True):
            self._values[i] = symbol
            if type(symbol) is Symbol:
                give_name(symbol._node, self.words.names.get(i, ""))
                if not isinstance(y, Absent):
                    self.trace.knows(y, symbol._node)
        if record.operation.function is called and record.params:
            record = record._replace(params={"call": self._traced(record.params["call"], record)})
        several = isinstance(record.output_id, tuple)
        output = tuple(found) if several else found[0]
        self.records[position] = tuple(record._replace(values=values, output=output))

    def _input(self, value: Any, i: int) -> Any:
        if value is None or not hasattr(value, "dtype"):
            return value
        if is_id(i):
            return self._values[i] if i in self._values else self.watched(i, value)
        return self._constant(value, i)

    def _constant(self, value: Any, i: int) -> Any:
        """The value that stands for one which the tape does not track: a parameter, or the number itself."""
        known = self.trace.known(value)
        if known is not None:
            return known
        if not value.ndim and not any(value is x for _, x in self.words.arrays):
            return value
        name = "" if isinstance(value, Absent) else self._name_of(value, i)
        if not name and not isinstance(value, Absent) and _is_short(value):
            return value
        for other, symbol in self._arrays:
            if other is value or (name and symbol._node.name == name):
                return symbol
        found = self._parameter(
            value, name or self._unlike_names("array"), 0, "" if name else UNNAMED
        )
        self._arrays.append((value, found))
        return found

    def _name_of(self, value: Any, i: int) -> str:
        """The user's name for an array that the tape has itself, or a copy of; empty if there is none."""
        for name, array in self.words.arrays:
            if array is value:
                return name
        if i != FOREIGN:
            return ""
        for name, array in self.words.arrays:
            if array.shape == value.shape and array.dtype == value.dtype and _same(array, value):
                return name
        return ""

    def _unlike_names(self, name: str) -> str:
        """A name that is none of the user's."""
        while name in self._names:
            name = f"unnamed_{name}"
        return name

    @cached_property
    def _names(self) -> set[str]:
        """The user's names, as they stand in a program."""
        names = self.words.names.values(), (name for name, _ in self.words.arrays)
        return set(map(identifier, chain(*names)))

    def _parameter(self, value: Any, name: str, i: int, what: str = "") -> Any:
        """The symbol of a new parameter; if it has no name of the user's, with the words for `what` it is."""
        kept = self._kept.get(i) if isinstance(value, Absent) else value
        stand_in = np.ones(value.shape, value.dtype)[()] if kept is None else kept
        symbol = self.trace.input(len(self.trace.inputs), stand_in, identifier(name))
        if what:
            self.meanings[symbol._node] = what
        if kept is None:
            self.guessed = True
            self._inexact.add(symbol._node)
        else:
            self.trace.knows(kept, symbol._node)
        return symbol

    def _computed(self, record: Record, values: tuple[Any, ...]) -> list[Any] | None:
        """The results of a record's operation, as far as it is certain that they are those that were recorded."""
        params = record.params or {}
        function: Any = record.operation.function
        typed = {**params, "dtype": record.outputs[0].dtype}
        whole = partial(self.trace.call, function)
        ways: tuple[Any, ...] = (
            partial(function, *values, **params),
            lambda: whole(values, params),
            lambda: whole(values, typed),
        )
        for way in ways:
            before, left = len(self.trace.body), len(self.trace.reasons)
            try:
                result = way()
            except Exception:  # noqa: BLE001 (an argument that no record holds may be missing)
                result = ()
            found = list(result) if isinstance(result, tuple) else [result]
            if len(self.trace.reasons) == left and self._agrees(record, values, found):
                self._name_constants(params.values())
                return found
            del self.trace.body[before:], self.trace.reasons[left:]
        return None

    def _name_constants(self, params: Iterable[Any]) -> None:
        """Name the arrays among the parameters of an operation, such as a mask, as the user does."""
        for x in params:
            if isinstance(x, tuple | list):
                self._name_constants(x)
            node = self.trace.constant(x) if isinstance(x, np.ndarray) and x.ndim else None
            if node is not None:
                give_name(node, self._name_of(x, FOREIGN))

    def _agrees(self, record: Record, values: tuple[Any, ...], found: list[Any]) -> bool:
        """Whether results have the form of those that were recorded, and their numbers where those were kept."""
        exact = self._inexact.isdisjoint(x._node for x in values if type(x) is Symbol)
        if len(found) != len(record.outputs):
            return False
        for y, now in zip(record.outputs, found, strict=True):
            if getattr(now, "shape", None) != y.shape or now.dtype != y.dtype:
                return False
            if exact and not isinstance(y, Absent):
                if not _close(held(now), y):
                    return False
            elif record.operation.ignores - FORM:
                return False
        if not exact:
            self._inexact.update(x._node for x in found if type(x) is Symbol)
        return True

    def _traced(self, call: Call, record: Record) -> Call:
        """A call of a function with a gradient of its own, which reads symbols in the place of recorded values."""
        end = record.output_ids[0]
        exits = [
            event
            for event in self.contents.events
            if event.kind == "exit" and call.start_time < event.time < end
        ]
        if exits:
            self.notes.append(
                f"{call.name} computed numbers outside of tensors ({exits[0].what}): those in its gradient that are "
                "no parameters are as they were recorded."
            )

        def of_tensor(x: Any, name: str) -> Any:
            value = unwrap(x)
            known = self.trace.known(value)
            if known is not None or id_of(x) == CONSTANT or not hasattr(value, "dtype"):
                return known
            what = f"a value that {call.name} keeps for its gradient"
            return self._parameter(value, name or call.name, 0, what)

        def of_array(value: Any, name: str) -> Any:
            known = self.trace.known(value)
            what = f"an array that {call.name} keeps for its gradient"
            return self._parameter(value, name, 0, what) if known is None and exits else known

        run: Any = call.pullback

        def pullback(upstream: list[Any]) -> Any:
            with symbols_in(run, of_tensor, of_array):
                return run(upstream)

        return Call(call.name, pullback, call.start_time)

    def _not_computed(self, record: Record, y: Any, i: int) -> Any:
        """The symbol for a result whose operation cannot run again: a record inside of it made it, or a parameter."""
        known = self.trace.known(y)
        if known is not None:
            return known
        name = self.words.names.get(i) or record.name
        own = record.operation.function is called
        why = "which has a gradient of its own" if own else "some of whose arguments no tape keeps"
        return self._parameter(y, name, i, f"the result of {record.name}, {why}")


def _first(record: Any) -> int:
    """The id of a record's first result."""
    made = record[-1]
    return int(made[0] if made.__class__ is tuple else made)


def _outputs(record: Any) -> tuple[int, ...]:
    made = record[-1]
    return made if made.__class__ is tuple else (made,)


def _values_kept(records: Sequence[Any]) -> dict[int, Any]:
    """Values by their ids, as far as a record holds them."""
    found: dict[int, Any] = {}
    for _, values, ids, _, output, output_id in records:
        several = output_id.__class__ is tuple
        held_by = (*values, *(output if several else (output,)))
        for value, i in zip(
            held_by, (*ids, *(output_id if several else (output_id,))), strict=True
        ):
            if is_id(i) and not isinstance(value, Absent):
                found.setdefault(i, value)
    return found


def _is_short(x: Any) -> bool:
    """Whether an array stands in a program as what it is, and not under a name."""
    return bool(x.size <= LITERAL or literal(x) is not None)


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def _close(now: Any, y: Any) -> bool:
    """Whether two results differ by no more than a sum in another order does."""
    if y.dtype.kind not in "fc" or not y.size:
        return _same(now, y)
    finite = np.abs(y)[np.isfinite(y)] if y.ndim else np.abs(y)
    top = np.max(finite, initial=0.0) if np.ndim(finite) else finite
    scale = float(top) if np.isfinite(top) else 0.0
    bound = 256 * float(np.finfo(y.dtype).eps)
    with np.errstate(all="ignore"):
        return bool(np.allclose(now, y, rtol=bound, atol=bound * scale, equal_nan=True))
