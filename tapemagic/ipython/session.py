"""Session: one run of a %%tape cell, with its tapes and the names of its values."""

from __future__ import annotations

import ast
import math
from collections import ChainMap
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Self

from tapemagic.engine.events import Place
from tapemagic.engine.laziness import as_lazy, is_lazy
from tapemagic.engine.recording import clock, tick, time_of
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.python_numbers import mark_replacement
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.advice import conversion, lost_track, replacement
from tapemagic.explain.caller import TargetGroup, is_plain
from tapemagic.explain.explain import Explanation, explain
from tapemagic.explain.formatting import label, numbered, own_name, unique_name, without_subscript
from tapemagic.explain.lazy_values import has_lazy_values, is_lazy_array
from tapemagic.explain.parts import tensors
from tapemagic.explain.query import Program, Question
from tapemagic.explain.reassignment import reassignment
from tapemagic.explain.snapshot import Named, Snapshot, snapshot_of
from tapemagic.ipython.assignments import CONTAINERS, Assignments, Bindings
from tapemagic.ipython.callsites import CallSites
from tapemagic.ipython.celltape import CellTape
from tapemagic.ipython.floating_point import FloatingPointWarnings
from tapemagic.ipython.memory_limit import format_bytes
from tapemagic.ipython.runcell import Cell
from tapemagic.ipython.watchable import is_number, is_watchable, maker, watchable
from tapemagic.report.bundle import TapeReport
from tapemagic.report.context import Context
from tapemagic.report.derivatives import joined
from tapemagic.report.failure.find_failure import Failure
from tapemagic.report.tabs.gradients.own_gradients import written_sources
from tapemagic.report.verdict.statement import Statement

# They hold every earlier result, which would give each value a second name, such as Out[3].
HIDDEN = {"In", "Out"}
"""Names that IPython puts into every notebook."""

UNNAMED = "Variable"
"""Default name of a Variable."""


class Session:
    """A single run of a cell: its tapes, watched values, and the names and values that it assigns.

    - `sources`: The tensors that the first line of the cell names to watch.
    - `assigned`: The lines that last assigned each name.
    - `tape_name`: The tape's name in the notebook, or "" if it has no name.
    - `lists`: The types of lists and tuples that were replaced by tensors to be watched, by name.
    - `targets`: Sequence of (name, tensor). The values that the report differentiates.
    - `order`: The highest order of derivatives in the report.
    - `notes`: Additional statements for the verdict.
    - `joins`: The number of lists of targets that were joined to arrays, each by one operation.
    - `began`: The time at which it began; values with later ids were made in the run.
    - `initial`: The watched values from before the cell, by name.
    - `is_plain`: Whether the cell's names are given back as plain numbers: see `give_back`.

    Raises UsageError if a value to watch does not consist of numbers.
    """

    def __init__(
        self,
        cell: Cell,
        watch: Sequence[str],
        persistent: bool,
        auto_watch: bool,
        budget: float = math.inf,
        is_plain: bool = False,
    ) -> None:
        self.cell = cell
        self.is_plain = is_plain
        self.watch = tuple(watch)
        self.tape_name = ""
        self._sites = CallSites(cell.filename)
        self.observer = Observer(self._sites.here, auto_watch, self._sites.calls)
        self.tape = CellTape(self.observer, persistent, auto_watch)
        self.observer.thin(budget)
        self._budget = budget
        self.is_out_of_memory = False
        self._assignments = Assignments()
        self._names: tuple[tuple[int, ...], dict[int, str]] | None = None
        self.sources: dict[str, Any] = {}
        self.assigned: dict[str, int] = {}
        # Watched values from before the cell. If the cell assigns the name first, they never mattered.
        self.initial: dict[str, Any] = {}
        self.began = tick()
        self._unused_ids: set[int] = set()
        self._snapshot: tuple[tuple[int, ...], Snapshot] | None = None
        self.lists: dict[str, str] = {}
        self._plain_values = PlainValues()
        # What each name was bound to before it was given back, and the plain value that it has now.
        self._given_back: dict[str, tuple[Any, Any]] = {}
        self.targets: Sequence[Named] = ()
        self.order = 1
        self.notes: list[Statement] = []
        self.joins = 0
        self._operations = 0
        self._warnings = FloatingPointWarnings(cell.filename)
        for name in watch:
            if name in cell.namespace and (
                name not in cell.assigned or is_watchable(cell.namespace[name])
            ):
                self.initial[name] = self._to_watch(name, cell.namespace[name])
        # A tensor whose name the cell gives to another value keeps a name in the report: x₁ in x = x * 3.
        for name in sorted(cell.assigned - self.initial.keys()):
            if isinstance(value := cell.namespace.get(name), Traced):
                self.initial[name] = value

    def __enter__(self) -> Self:
        self.observer.__enter__()
        self.tape.__enter__()
        self._warnings.__enter__()
        for name, value in self.initial.items():
            self.cell.namespace[name] = self._bind(name, value, None)
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *error: object) -> None:
        self.is_out_of_memory = kind is not None and issubclass(kind, MemoryError)
        if self.is_out_of_memory:
            self.observer.let_go()
        self._warnings.__exit__()
        self.tape.__exit__(None, None, None)
        self.observer.__exit__(None, None, None)
        self._sites.forget()
        self.observer.stop_thinning()
        # The observer goes on to record the derivatives of the report.
        self.tape.part()
        # Derivatives of the report are recorded after these; `recording` cuts them off.
        self._operations, *_ = self.observer.extent()
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Forget watched values from before the cell if the cell replaced them unused."""
        contents = self.snapshot().contents
        used = {i for record in contents.records for i in record[2]}
        used |= {event.number for event in contents.events}
        unused = [
            x
            for name, x in self.initial.items()
            if self.sources.get(name) is not x and id_of(x) not in used
        ]
        self._unused_ids = {id_of(x) for x in unused}
        self._assignments.ignore(unused)
        self._names = None

    @property
    def history(self) -> list[Named]:
        """The last numbers, arrays, tensors, lists and dicts that the cell assigned to each name, oldest first."""
        return self._assignments.history

    @property
    def latest(self) -> dict[str, Any]:
        """The last value that the cell assigned to each name."""
        return self._assignments.latest

    @property
    def bindings(self) -> Mapping[str, Bindings]:
        """The ids of the tensors that each name was bound to, with lines, oldest first."""
        return self._assignments.bindings

    def named(self, name: str, value: Any, line: int) -> Any:
        """Record an assignment on a line; return the value to bind, a tensor if the name is watched."""
        # A name that is bound to something else is no longer a list that became a tensor.
        if name in self.lists and not self.observer.tracks(value):
            del self.lists[name]
        value = self._bind(name, value, line)
        self.assigned[name] = line
        return value

    def _bind(self, name: str, value: Any, line: int | None) -> Any:
        if name in self.watch and not (self.observer.tracks(value)):
            value = self._to_watch(name, value)
            self.tape.track(value)
            mark_replacement(value, self._plain_values.original(value))
            self.sources[name] = value
        # Other objects would be kept alive by the history without ever being shown.
        if isinstance(value, Traced):
            self._assignments.add_tensor(name, value, line, self.observer)
        elif value.__class__ is int or is_number(value) or isinstance(value, CONTAINERS):
            self._assignments.add(name, value, self.observer)
        return value

    def _to_watch(self, name: str, value: Any) -> Traced:
        """Return the tensor to watch instead of a value; remember the type of a list in `lists`."""
        tensor: Traced = watchable(name, value, maker(self.cell.namespace))
        if isinstance(value, CONTAINERS):
            self.lists[name] = type(value).__name__
        self._plain_values.came_as(tensor, value)
        return tensor

    def turned_into_tensors(self) -> list[str]:
        """Return the watched names that were bound to plain numbers and are bound to tensors now."""
        namespace, values = self.cell.namespace, self._plain_values
        return [name for name in self.watch if values.has_come(namespace.get(name))]

    def give_back(self) -> None:
        """Bind the names of the cell to plain numbers, as they would be without a tape; Variables stay.

        Watched values become what they were, and results arrays and NumPy scalars, also inside lists, tuples and dicts.
        """
        namespace = self.cell.namespace
        for name in sorted({*self.watch, *self.cell.assigned, *self.cell.read} & namespace.keys()):
            value = namespace[name]
            plain = self._plain_values.of(value)
            if plain is not value:
                namespace[name] = plain
                self._given_back[name] = value, plain

    def plain_value(self, value: Any) -> Any:
        """Return the value of the cell, as plain numbers if its names are."""
        return self._plain_values.of(value) if self.is_plain else value

    def names(self) -> Mapping[str, Any]:
        """Return the notebook's variables, with tensors for names that still have the values given back."""
        namespace = self.cell.namespace
        held = {
            name: tensor
            for name, (tensor, plain) in self._given_back.items()
            if namespace.get(name) is plain
        }
        return ChainMap(held, namespace)

    def join(self, group: TargetGroup) -> Sequence[Named]:
        """Join many targets in a list to one, whose array the recording of the cell then has, too.

        Returns
        -------
        sequence of (str, Tensor)
            That target; empty if the targets should be separate.
        """
        found = joined(self.observer, group if _is_name(group.name) else group._replace(name=""))
        if found is None:
            return []
        target, text = found
        self.notes.append(Statement("note", text))
        self.joins += 1
        self._operations, *_ = self.observer.extent()
        return [target]

    def recording(self, has_joins: bool = True) -> Observer:
        """Return the recording of the cell without the derivatives that its report computed.

        - `has_joins`: Keep the operations that joined lists of targets, without which those aren't recorded.
        """
        return self.observer.copy(self._operations - (0 if has_joins else self.joins))

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the recording, cached until more is recorded."""
        # A snapshot costs time in proportion to the records, and one report asks for it many times.
        extent = self.observer.extent()
        if self._snapshot is None or self._snapshot[0] != extent:
            self._snapshot = extent, snapshot_of(self.observer)
        return self._snapshot[1]

    def computes_later(self) -> bool:
        """Return True if the cell has computed with Dask arrays so far."""
        return has_lazy_values(self.snapshot().records)

    def context(self, notes: Sequence[Statement] = (), failure: Failure | None = None) -> Context:
        """Collect the names and lines of the cell for its report."""
        return Context(
            self._named_values(),
            self.value_names(),
            self.assigned,
            self.cell.lines,
            [*notes, *self.notes, *self._notes(), *(() if failure else self._replaced())],
            self.bindings,
            self.program(),
            failure,
            list(self._warnings.gathered.values()),
        )

    def program(self) -> Program:
        """Return the cell as the program that an explanation reads."""
        place = Place(self.cell.filename, 1, "")
        variables = {id_of(x) for x in self.observer.watched_variables()}
        return Program(place, self.cell.namespace, in_cell=True, variables=variables)

    def question(self, y: str, target: Any, x: str, source: Any) -> Question:
        """Build the question about one gradient of this cell, using its names."""
        names = self.value_names()
        for name, value in self.all_sources():
            names.setdefault(id_of(value), name)
        snapshot, bindings = self.snapshot(), self.bindings.get(x, ())
        return Question(snapshot, target, source, y, x, names, bindings, self.program())

    def explain(self, y: str, target: Any, x: str, source: Any) -> Explanation:
        """Explain a gradient of this cell: why it is None, or its paths."""
        return explain(self.question(y, target, x, source))

    def _notes(self) -> list[Statement]:
        """Note lists that were replaced by arrays, and a tape whose name was reassigned."""
        notes = [Statement("note", self._let_go())] if self.observer.omitted else []
        when = "in this cell" if self.is_plain else "now"
        text = f"{{0}} was a {{1}} and is an array {when}, because it is watched: {{0}} + {{0}} adds the numbers in it"
        notes += [Statement("note", text.format(*item)) for item in self.lists.items()]
        name = self.tape_name
        value = self.cell.namespace.get(name)
        if name and not isinstance(
            value, Tape
        ):  # if the cell made another tape, that is no surprise
            text = (
                f"{name} is not the tape of this cell any more, since the cell deleted the name or gave it to another "
                "value; %gradient and %why still ask that one"
            )
            notes.append(Statement("note", text))
        return notes

    def _replaced(self) -> Iterator[Statement]:
        """Note each Variable that a step of the cell, such as `w = w - rate * gradient`, replaced with a tensor."""
        calls = self.observer.gradient_calls()
        trained = {id_of(x) for call in calls for x in call.sources if isinstance(x, Variable)}
        for name, bound in self.bindings.items():
            x = self.cell.namespace.get(name)
            if bound[0][0] in trained and isinstance(x, Traced) and not isinstance(x, Variable):
                change = reassignment(self.question(name, x, name, x))
                if change is not None:
                    text = (
                        f"{name} isn't a Variable anymore: {change.line} replaced it with a new tensor. To train "
                        f"{name} further, write {change.instead} instead."
                    )
                    yield Statement("note", text)

    def _let_go(self) -> str:
        """Say how much of the recording is left, and what is still exact."""
        kept, observer = self._operations, self.observer
        if self.is_out_of_memory:
            return (
                f"the memory was full, so the recording of {kept + observer.omitted:,} operations was let go, and "
                "gradients that need it are refused. The variables are as the cell left them. Smaller batches or fewer "
                "steps need less, and so does float(loss) instead of loss in a list"
            )
        if observer.cut_records:
            return (
                f"{kept:,} of {kept + observer.omitted:,} operations are kept: the recording needed more than the "
                f"{format_bytes(self._budget)} that it may take, so the oldest steps whose gradients were taken were "
                "let go. A gradient that needs them is refused, all others are exact, and Training shows every step. "
                "Append float(loss) to a list instead of loss, or allow more: %config TapeMagics.memory = '2 GB'"
            )
        return (
            f"{kept:,} of {kept + self.observer.omitted:,} operations are kept: those of the first, the last and a few "
            "other iterations, and all that values in the notebook depend on, so gradients are exact; Training shows "
            "every step"
        )

    def last_exit(self, but: Container[int] = ()) -> str:
        """Describe the last value that became untracked, except those with the ids `but`, as the end of a sentence."""
        for event in self.snapshot().events[::-1]:
            if event.kind == "exit" and event.number not in but:
                name = self.value_names().get(event.number, "a value")
                namespace = self.cell.namespace
                advice = replacement(event, namespace)
                return f": {lost_track(event, name, namespace)}. {advice}."
        return ""

    def exit_on_last_line(self) -> str:
        """Describe the last value that became untracked on the cell's last line, as the start of a sentence."""
        last = len("\n".join(self.cell.lines).rstrip().splitlines())
        for event in self.snapshot().events[::-1]:
            place = event.place
            if event.kind == "exit" and place and place[:2] == (self.cell.filename, last):
                name = self.value_names().get(event.number, "a value")
                return conversion(event, name, self.cell.namespace)
        return ""

    def _named_values(self) -> list[Named]:
        """Return the values that the cell assigns or reads, by name, without integers and containers."""
        namespace = self.cell.namespace
        named = {
            name: value
            for name, value in self.latest.items()
            if not isinstance(value, (int, *CONTAINERS))
        }
        for name in sorted(self.cell.read - self.cell.assigned):
            if is_number(namespace.get(name)):
                named.setdefault(name, namespace[name])
        return [
            (name, as_lazy(value) if is_lazy_array(value) else value)
            for name, value in named.items()
        ]

    def value_names(self) -> dict[int, str]:
        """Return the names of values by id; earlier values of a name get a subscript."""
        extent = self._assignments.count, *self.observer.extent()
        if self._names is None or self._names[0] != extent:
            self._names = extent, self._assignments.names(self.observer.known_ids())
        return self._names[1].copy()

    def all_sources(self) -> list[Named]:
        """Return all watched values with their names in the notebook."""
        names = self.value_names()
        named = [(name, self.sources[name]) for name in self.watch if name in self.sources]
        sources = {names.get(id_of(value), name): value for name, value in named}
        taken = {id_of(value) for value in sources.values()}
        unnamed = [value for value in self._watched() if id_of(value) not in taken]
        for name, value in zip(self._names_of(unnamed), unnamed, strict=True):
            sources[unique_name(name, sources)] = value
        return list(sources.items())

    def watched(self) -> set[int]:
        """Return the ids of all watched values."""
        return set(self.snapshot().leaves) | {id_of(source) for source in self.sources.values()}

    def _is_watched(self, value: Traced) -> bool:
        return self.observer.watches(value) or any(
            id_of(value) == id_of(source) for source in self.sources.values()
        )

    def is_computed(self, value: Traced) -> bool:
        """Return True if a tensor was computed from watched values."""
        return self.observer.tracks(value) and not self._is_watched(value)

    def _watched(self) -> list[Any]:
        """Return the watched Variables, and the watched tensors that have a name."""
        values: dict[int, Any] = {id_of(x): x for x in self.observer.watched_variables()}
        # Any value of a name may be watched. Of a name on the %%tape line, only the last one is a source.
        assigned = [x for name, x in self.history if name not in self.sources]
        candidates = [*assigned, *self.cell.namespace.copy().values()]
        for value in candidates:
            if isinstance(value, Traced) and self.observer.watches(value):
                values.setdefault(id_of(value), value)
        return [value for number, value in values.items() if number not in self._unused_ids]

    def _names_of(self, values: Sequence[Traced]) -> list[str]:
        """Name values by the notebook's variables, preferring those that the cell uses.

        A Variable without a name is named by the expression that reaches it in a list, dict or object. The target of a
        loop is the last choice, because it was bound to other values as well.
        """
        used, unused = self.notebook()
        # If the notebook has another value by a Variable's own name, the place of the Variable tells them apart.
        taken = {name for name, _ in (*used, *unused)}
        own = {id_of(x): label(own_name(x)) for x in values}
        shared = {i: name for i, name in own.items() if name in taken}
        own |= dict.fromkeys(shared, UNNAMED)
        looped = [(name, x) for name, x in used if name in self.cell.looped]
        used = [(name, x) for name, x in used if name not in self.cell.looped]
        named = {id_of(x): name for name, x in [*used, *unused][::-1] if isinstance(x, Traced)}
        if any(name == UNNAMED and i not in named for i, name in own.items()):
            groups = (used, looped, unused)
            places = [place for group in groups for place in tensors(group, TapeReport)]
            places += [
                pair
                for call in self.observer.gradient_calls()
                for pair in written_sources(call, self.cell.namespace)
            ]
            own |= {id_of(x): name for name, x in places[::-1] if own.get(id_of(x)) == UNNAMED}
        # The name of a loop belonged to other values as well, so it's the last choice here, too.
        earlier = {
            i: name
            for i, name in self.value_names().items()
            if without_subscript(name) not in self.cell.looped
        }
        names = own | earlier | named
        taken |= {*names.values(), *self.value_names().values()}
        for i, name in shared.items():
            # Without a place, as in x = Variable(2.0, name="x") + 1.0, it is x₁, like an earlier value of x.
            if names[i] == UNNAMED:
                names[i] = numbered(name, taken)
                taken.add(names[i])
        return [names[i] for i in own]

    def notebook(self) -> tuple[list[Named], list[Named]]:
        """Return the notebook's named values: those that the cell uses, and the others, without hidden names."""
        namespace = self.cell.namespace.copy()  # a copy, because a thread may add names meanwhile
        mentioned = self.cell.read | self.cell.assigned
        used = [(name, x) for name, x in namespace.items() if name in mentioned]
        unused = [
            (name, x)
            for name, x in namespace.items()
            if name not in mentioned and not name.startswith("_") and name not in HIDDEN
        ]
        return used, unused


def _is_name(written: str) -> bool:
    """Return True if an expression, which may be clipped, names a value instead of computing it."""
    try:
        return is_plain(ast.parse(written, mode="eval").body)
    except SyntaxError:
        return False


class PlainValues:
    """Plain numbers for the tensors of a cell, and what its watched values were before they became tensors."""

    def __init__(self) -> None:
        # The time of the start: older tensors were tensors before the cell.
        self._start = time_of(clock[0])
        # By the identity of the tensor, which is kept alive for that.
        self._originals: dict[int, tuple[Traced, Any]] = {}

    def came_as(self, tensor: Traced, value: Any) -> None:
        """Remember the value that was replaced by a tensor, the first one if that is a tensor as well."""
        self._originals.setdefault(id(tensor), (tensor, value))

    def original(self, tensor: Any) -> Any:
        """Return the value that a tensor replaced, or the tensor itself."""
        return self._originals.get(id(tensor), (tensor, tensor))[1]

    def has_come(self, value: Any) -> bool:
        """Return True for a tensor that replaced a value of another type."""
        return id(value) in self._originals and not isinstance(self.original(value), Traced)

    def of(self, value: Any) -> Any:
        """Return a value with plain numbers instead of tensors; lists and dicts are changed in place."""
        return self._of(value, set())

    def _of(self, value: Any, seen: set[int]) -> Any:
        if isinstance(value, Traced):
            return self._number(value)
        kind = type(value)
        # A list may contain itself.
        if kind not in CONTAINERS or id(value) in seen:
            return value
        seen.add(id(value))
        if kind is tuple:
            items = tuple(self._of(x, seen) for x in value)
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        places = value.items() if kind is dict else enumerate(value)
        for place, x in list(places):
            plain = self._of(x, seen)
            if plain is not x:
                value[place] = plain
        return value

    def _number(self, value: Traced) -> Any:
        if id(value) in self._originals:
            return self._originals[id(value)][1]
        # Your own Variables and constants stay; results have the time at which they were computed.
        if isinstance(value, Variable) or time_of(id_of(value)) <= self._start:
            return value
        if is_lazy(unwrap(value)):
            return value.to_dask_array()
        number = unwrap(value)
        return number.copy() if number.ndim else number
