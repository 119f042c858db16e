"""Records of a tape, run again on symbols under a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.effects import performed
from tapemagic.engine.events import Event
from tapemagic.engine.functions.pullback import Call, called
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.recording import CONSTANT, FOREIGN, Absent, Record, is_id
from tapemagic.engine.registry import HARMLESS
from tapemagic.engine.tape.base_tape import Contents
from tapemagic.engine.tape.careful_sweep import holds_nan
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import SourceError
from tapemagic.programs.custom import symbols_in
from tapemagic.programs.program import Node, Site
from tapemagic.programs.text.literals import literal
from tapemagic.programs.text.naming import give_name, identifier
from tapemagic.programs.tracing.calls import user_frame
from tapemagic.programs.tracing.symbol import Symbol, concrete
from tapemagic.programs.tracing.trace import MAX_NODES, Trace

FORM = HARMLESS | {"order", "kind", "stable", "device", "signature"}
"""Arguments that records don't keep, and that don't change numbers. A dtype does, but the result shows it."""

MAX_EXITS = 3
"""Maximum number of exits that a note names."""

CONVERSIONS = frozenset(
    {"float()", "int()", "complex()", ".item()", ".numpy()", ".tolist()", "np.asarray"}
)
"""Exits that keep the number, which may only have been printed or logged."""

MAX_TYPED_LENGTH = 8
"""Maximum number of characters of a number that a user writes. Longer numbers were computed."""

UNNAMED = "which had no name where this was written"

TOO_LONG = (
    f"the recorded operations and their derivative are more than {MAX_NODES:,} operations, the limit of a program: "
    "record fewer iterations"
)

MAX_LITERAL_SIZE = 8
"""Maximum number of elements of an unnamed array that a program writes as a literal."""


class Words(NamedTuple):
    """The user's names and lines for recorded values.

    - `names`: Names of values by their ids.
    - `arrays`: Sequence of (str, array). The user's arrays by name. The tape may have copies of them.
    - `places`: Returns the line of the record at a position, if it's known.
    """

    names: Mapping[int, str]
    arrays: Sequence[tuple[str, Any]]
    places: Callable[[int], Site | None]


Mark = tuple[int, int]
"""The order of a derivative, 0 for the recorded operation, and the position of the record."""


class Placed(Site):
    """The line of a node, and the records that it belongs to.

    - `own`: Whether the line is part of a custom gradient, like `Back.own`.
    """

    marks: tuple[Mark, ...] = ()
    own = False


class RecordTrace(Trace):
    """A trace of records, in which the site of a node is the line that made its record.

    - `mark`: The record that runs or is differentiated.
    - `level`: The order of the current derivative.
    """

    def __init__(self, places: Callable[[int], Site | None]) -> None:
        super().__init__()
        self.mark: Mark | None = None
        self.level = 0
        self._places = places
        self._positions: dict[int, int] = {}
        self._nodes: dict[int, tuple[Any, Node]] = {}

    def guard(self, x: Any) -> bool:
        """Return the bool of a symbol. Whether a gradient holds a nan is decided once, by the recorded values."""
        if getattr(x._node, "function", None) is holds_nan:
            return bool(x._concrete)
        return super().guard(x)

    def effect(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Perform an effect in a custom gradient, which a program for readers can't repeat."""
        self.mark_exit(f"{function.__name__}()")
        return performed(function, concrete(tuple(args)), concrete(kwargs))

    def at(self, position: int) -> None:
        """Set the record that runs."""
        self.mark = 0, position

    def remember(self, value: Any, node: Node) -> None:
        """Remember that an array is the value of a node. The array stays alive, so its id stays valid."""
        self._nodes[id(value)] = value, node

    def symbol_for(self, value: Any) -> Symbol | None:
        """Return the symbol of an array that is the value of a node, if any."""
        entry = self._nodes.get(id(value))
        return Symbol(self, entry[1], value) if entry else None

    def set_swept_records(self, records: Sequence[Any]) -> None:
        """Set the records of the next sweep, which are identified by their first results."""
        self._positions = {_first(record): k for k, record in enumerate(records)}

    def site(self, own: int = 1) -> Site | None:  # noqa: ARG002 (the signature of `Trace`)
        """Return the line of the record that runs or is differentiated, or the current line of a custom gradient."""
        if self.mark is None:
            return None
        frame = user_frame() if self.back is not None else None
        is_users = frame is not None and frame is not self._sweeping
        line = self.names.site(frame) if is_users else self._places(self.mark[1])
        place = Placed(*(line or ("", 0)))
        place.marks = (self.mark,)
        place.own = is_users
        return place

    def is_own(self, site: Site | None) -> bool:
        """Return True if a line is part of a custom gradient."""
        return isinstance(site, Placed) and site.own

    def sweep(self, records: Any, grads: dict[int, Any]) -> Iterator[Any]:
        """Yield the records of a reverse sweep, and mark each while it is differentiated."""
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
        """Raise an error if the trace has stopped because it has too many calls."""
        if not self.is_recording:
            raise SourceError(TOO_LONG)

    def _constant(self, value: Any) -> Any:
        entry = self._nodes.get(id(value))
        return entry[1] if entry else super()._constant(value)


class Rerun:
    """The values of a tape as symbols.

    - `contents`: The contents of a tape that still has its records.

    - `records`: All records. In those that were run, values are symbols.
    - `meanings`: Descriptions of the parameters without a user's name.
    - `notes`: Notes for readers of the program.
    - `guessed`: Whether ones of the same shape replace a value that the tape didn't keep.
    - `result_ids`: The ids of all results of records.
    - `requested`: The ids of the values in `watched`.
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
        self.result_ids = {i for record in contents.records for i in _outputs(record)}
        self.requested: set[int] = set()

    def watched(self, i: int, value: Any, unnamed: str = "value") -> Any:
        """Return the symbol of a value that isn't the result of a record, such as a source.

        It becomes a parameter. Without a user's name, it's called `unnamed`.
        """
        self.requested.add(i)
        # A Variable that was assigned while the tape recorded has several values, each of them a parameter.
        version = id(value) if i in self._assigned else 0
        if isinstance(value, Absent) and i in self._assigned:
            raise SourceError(
                f"{self.words.names.get(i) or 'a Variable'} was assigned while the tape recorded, and its value at "
                "one of the operations was not kept: write the function with tapemagic.function, whose source is known"
            )
        symbol = self._versions.get((i, version))
        if symbol is None:
            name = identifier(self.words.names.get(i, ""))
            later = any(earlier == i for earlier, _ in self._versions)
            what = "" if name else f"a {unnamed} without a name"
            name = name or self._unlike_names(unnamed)
            what = f"a later value of {name}" if later else what
            symbol = self._versions[i, version] = self._parameter(value, name, i, what)
        return symbol

    def recorded_value(self, x: Any) -> Any:
        """Return the value of a tensor when it was recorded. A Variable may have changed since."""
        kept = self._kept.get(id_of(x))
        if kept is None and isinstance(x, Variable):
            return Absent(x.shape, x.dtype)
        return unwrap(x) if kept is None else kept

    def value(self, i: int) -> Any:
        """Return the symbol of the value with an id, if the value was computed."""
        return self._values.get(i)

    def run(self, needed: Sequence[int]) -> None:
        """Run the records at these positions, which are sorted."""
        if len(needed) > MAX_NODES:
            raise SourceError(TOO_LONG)
        self._ran = needed
        for position in needed:
            self.trace.at(position)
            self._run(position, Record._make(self.contents.records[position]))
            self.trace.check_length()
        self.trace.mark = None

    def note_exits(self) -> None:
        """Add notes if the targets depend on numbers that the tape doesn't track, or on random numbers."""
        records = [Record._make(self.contents.records[k]) for k in self._ran]
        # An exit matters if a later record reads its value, or may have read its number as a constant.
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
                f"Values that the tape doesn't track ({', '.join(dict.fromkeys(map(str, hows[:MAX_EXITS])))}) are "
                "constants here, with their values when this was recorded."
            )
        if any(i < FOREIGN for i in values):
            self.notes.append(
                "Values computed from constants, which the tape doesn't watch, are numbers here."
            )
        if any(record.operation.function is masked for record in records):
            self.notes.append(
                "The random mask of dropout is a constant here, with its value when this was recorded."
            )

    def _may_read(self, record: Record, event: Event) -> bool:
        """Return True if an argument of an operation may come from a number that the tape stopped tracking."""
        if max(record.output_ids) < event.time:
            return False
        # After other exits, such as a comparison, a branch may depend on the number.
        if event.what not in CONVERSIONS:
            return True
        left = self._kept.get(event.number)
        numbers = np.ravel([] if left is None else left)[:MAX_LITERAL_SIZE]
        if event.what == "int()" and numbers.dtype.kind == "f":
            numbers = np.trunc(numbers)
        pairs = zip(record.values, record.ids, strict=True)
        return any(self._may_be(x, i, numbers, event.time) for x, i in pairs)

    def _may_be(self, x: Any, i: int, exits: Any, time: int) -> bool:
        """Return True if an argument may come from numbers after a time, because it contains one or a long number."""
        if is_id(i) or x is None or isinstance(x, Absent):
            return False
        # Other ids are stamps: minus the time at which a result was computed that no tape recorded.
        if i not in (CONSTANT, FOREIGN):
            return -i > time
        value = np.asarray(x)
        if value.dtype.kind not in "iufc" or (value.ndim and self._name_of(value, i)):
            return False
        # A short number that differs from the exits was typed by the user. A long one was probably computed.
        numbers = value.ravel()[:MAX_LITERAL_SIZE]
        return bool(np.isin(numbers, exits).any()) or any(
            len(str(v)) > MAX_TYPED_LENGTH for v in numbers.tolist()
        )

    def _run(self, position: int, record: Record) -> None:
        values = tuple(map(self._input, record.values, record.ids))
        outputs = record.outputs
        results: Any = None
        if record.operation.function is not called:
            results = self._computed(record, values)
        if results is None:
            results = [
                self._not_computed(record, y, i)
                for y, i in zip(outputs, record.output_ids, strict=True)
            ]
        for symbol, y, i in zip(results, outputs, record.output_ids, strict=True):
            self._values[i] = symbol
            if type(symbol) is Symbol:
                give_name(symbol._node, self.words.names.get(i, ""))
                if not isinstance(y, Absent):
                    self.trace.remember(y, symbol._node)
        if record.operation.function is called and record.params:
            record = record._replace(params={"call": self._traced(record.params["call"], record)})
        several = isinstance(record.output_id, tuple)
        output = tuple(results) if several else results[0]
        self.records[position] = tuple(record._replace(values=values, output=output))

    def _input(self, value: Any, i: int) -> Any:
        if value is None or not hasattr(value, "dtype"):
            return value
        if is_id(i):
            return self._values[i] if i in self._values else self.watched(i, value)
        return self._constant(value, i)

    def _constant(self, value: Any, i: int) -> Any:
        """Return a parameter for a value that the tape doesn't track, or the value if it's short."""
        symbol = self.trace.symbol_for(value)
        if symbol is not None:
            return symbol
        if not value.ndim and not any(value is x for _, x in self.words.arrays):
            return value
        name = "" if isinstance(value, Absent) else self._name_of(value, i)
        if not name and not isinstance(value, Absent) and _is_short(value):
            return value
        for array, symbol in self._arrays:
            if array is value or (name and symbol._node.name == name):
                return symbol
        symbol = self._parameter(
            value, name or self._unlike_names("array"), 0, "" if name else UNNAMED
        )
        self._arrays.append((value, symbol))
        return symbol

    def _name_of(self, value: Any, i: int) -> str:
        """Return the user's name for an array on the tape, which may be a copy, or '' if it has no name."""
        for name, array in self.words.arrays:
            if array is value:
                return name
        # The tape copies plain arrays, so only their numbers can be compared.
        if i != FOREIGN:
            return ""
        for name, array in self.words.arrays:
            if array.shape == value.shape and array.dtype == value.dtype and _same(array, value):
                return name
        return ""

    def _unlike_names(self, name: str) -> str:
        """Return a name that isn't a user's name."""
        while name in self._names:
            name = f"unnamed_{name}"
        return name

    @cached_property
    def _names(self) -> set[str]:
        """The user's names, in the form that programs use."""
        names = self.words.names.values(), (name for name, _ in self.words.arrays)
        return set(map(identifier, chain(*names)))

    def _parameter(self, value: Any, name: str, i: int, what: str = "") -> Any:
        """Return the symbol of a new parameter. `what` describes a parameter without a user's name."""
        kept = self._kept.get(i) if isinstance(value, Absent) else value
        # Ones keep most functions defined, unlike zeros: log, division.
        stand_in = np.ones(value.shape, value.dtype)[()] if kept is None else kept
        symbol = self.trace.input(len(self.trace.inputs), stand_in, identifier(name))
        if what:
            self.meanings[symbol._node] = what
        if kept is None:
            self.guessed = True
            self._inexact.add(symbol._node)
        else:
            self.trace.remember(kept, symbol._node)
        return symbol

    def _computed(self, record: Record, values: tuple[Any, ...]) -> list[Any] | None:
        """Return the results of a record's operation, if they are certain to be the recorded results."""
        # Records don't keep every argument. So the function is called with its recorded parameters, then as a single
        # node, then as a single node with a dtype, until the results agree with the recorded results.
        params = record.params or {}
        function: Any = record.operation.function
        typed = {**params, "dtype": record.outputs[0].dtype}
        as_node = partial(self.trace.call, function)
        attempts: tuple[Any, ...] = (
            partial(function, *values, **params),
            lambda: as_node(values, params),
            lambda: as_node(values, typed),
        )
        for attempt in attempts:
            before, left = len(self.trace.body), len(self.trace.reasons)
            try:
                result = attempt()
            except Exception:  # noqa: BLE001 (a required argument may not be in the record)
                result = ()
            results = list(result) if isinstance(result, tuple) else [result]
            exact = self._inexact.isdisjoint(x._node for x in values if type(x) is Symbol)
            if len(self.trace.reasons) == left and _agree(record, results, exact):
                if not exact:
                    self._inexact.update(x._node for x in results if type(x) is Symbol)
                self._name_constants(params.values())
                return results
            del (
                self.trace.body[before:],
                self.trace.reasons[left:],
            )  # the traces of a failed attempt
        return None

    def _name_constants(self, params: Iterable[Any]) -> None:
        """Give the arrays among the parameters of an operation, such as a mask, their user's names."""
        for x in params:
            if isinstance(x, tuple | list):
                self._name_constants(x)
            node = self.trace.constant(x) if isinstance(x, np.ndarray) and x.ndim else None
            if node is not None:
                give_name(node, self._name_of(x, FOREIGN))

    def _traced(self, call: Call, record: Record) -> Call:
        """Return a call with a custom gradient that reads symbols instead of recorded values."""
        end = record.output_ids[0]
        exits = [
            event
            for event in self.contents.events
            if event.kind == "exit" and call.start_time < event.time < end
        ]
        if exits:
            self.notes.append(
                f"{call.name} computed numbers outside of tensors ({exits[0].what}): unless they are parameters, its "
                "gradient uses their values when this was recorded."
            )

        def of_tensor(x: Any, name: str) -> Any:
            value = unwrap(x)
            symbol = self.trace.symbol_for(value)
            if symbol is not None or id_of(x) == CONSTANT or not hasattr(value, "dtype"):
                return symbol
            what = f"a value that {call.name} keeps for its gradient"
            return self._parameter(value, name or call.name, 0, what)

        def of_array(value: Any, name: str) -> Any:
            symbol = self.trace.symbol_for(value)
            what = f"an array that {call.name} keeps for its gradient"
            return self._parameter(value, name, 0, what) if symbol is None and exits else symbol

        run: Any = call.pullback

        def pullback(upstream: list[Any]) -> Any:
            with symbols_in(run, of_tensor, of_array):
                return run(upstream)

        return Call(call.name, pullback, call.start_time)

    def _not_computed(self, record: Record, y: Any, i: int) -> Any:
        """Return the symbol of a result whose operation can't run again: of a record inside it, or a parameter."""
        symbol = self.trace.symbol_for(y)
        if symbol is not None:
            return symbol
        name = self.words.names.get(i) or record.name
        own = record.operation.function is called
        why = "which has a custom gradient" if own else "some of whose arguments no tape keeps"
        return self._parameter(y, name, i, f"the result of {record.name}, {why}")


def _agree(record: Record, results: list[Any], exact: bool) -> bool:
    """Return True if results have the recorded shapes and dtypes and, if the arguments are exact, the numbers."""
    if len(results) != len(record.outputs):
        return False
    for y, result in zip(record.outputs, results, strict=True):
        if getattr(result, "shape", None) != y.shape or result.dtype != y.dtype:
            return False
        if exact and not isinstance(y, Absent):
            if not _close(concrete(result), y):
                return False
        elif record.operation.ignores - FORM:
            return False
    return True


def _first(record: Any) -> int:
    """Return the id of a record's first result."""
    return int(_outputs(record)[0])


def _outputs(record: Any) -> tuple[int, ...]:
    ids = record[-1]
    return ids if ids.__class__ is tuple else (ids,)


def _values_kept(records: Sequence[Any]) -> dict[int, Any]:
    """Return the values that records keep, by their ids."""
    kept: dict[int, Any] = {}
    for _, values, ids, _, output, output_id in records:
        several = output_id.__class__ is tuple
        all_values = (*values, *(output if several else (output,)))
        all_ids = (*ids, *(output_id if several else (output_id,)))
        for value, i in zip(all_values, all_ids, strict=True):
            if is_id(i) and not isinstance(value, Absent):
                kept.setdefault(i, value)
    return kept


def _is_short(x: Any) -> bool:
    """Return True if a program writes an array as a literal."""
    return bool(x.size <= MAX_LITERAL_SIZE or literal(x) is not None)


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def _close(result: Any, y: Any) -> bool:
    """Return True if two results differ at most by rounding, like sums in another order."""
    if y.dtype.kind not in "fc" or not y.size:
        return _same(result, y)
    finite = np.abs(y)[np.isfinite(y)] if y.ndim else np.abs(y)
    top = np.max(finite, initial=0.0) if np.ndim(finite) else finite
    scale = float(top) if np.isfinite(top) else 0.0
    # The error of a sum is relative to its largest terms, not to the result, hence `atol`.
    bound = 256 * float(np.finfo(y.dtype).eps)
    with np.errstate(all="ignore"):
        return bool(np.allclose(result, y, rtol=bound, atol=bound * scale, equal_nan=True))
