"""Subject: the recording that a report is about, with its names, targets, sources and gradients."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Literal, TypeVar, cast

import numpy as np

from tapemagic.engine.recording import Record, outputs_of
from tapemagic.engine.tape.gradient_steps import GradientStep
from tapemagic.engine.tape.observer import GradientCall
from tapemagic.engine.tensor.tensor import has_id, id_of
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.formatting import derivative_symbol, without_subscript
from tapemagic.explain.lazy_values import has_lazy_values
from tapemagic.explain.snapshot import Named, Snapshot
from tapemagic.report.adjoints import Adjoints, StepGradients, adjoints_of, levels
from tapemagic.report.context import Context
from tapemagic.report.derivatives import GradientTable
from tapemagic.report.drawn_records import drawn_positions
from tapemagic.report.folding import Block, fold
from tapemagic.report.request import ReportRequest
from tapemagic.report.tabs.gradients.matrices import PendingMatrix
from tapemagic.report.variable_versions import Reads, SplitVersions, reads, split_versions

Role = Literal["watched", "variable", "computed", "target", "constant"]
T = TypeVar("T")
MAX_WRITTEN = 2_000
"""The maximum number of table cells to keep for other tables."""


# eq=False: subjects are compared by identity, because == of arrays gives an array, not a bool.
@dataclass(frozen=True, eq=False)
class Subject:
    """The recording that a report is about.

    - `whole`: The recording, with the operations of the derivatives that the report takes.
    - `operations`: The number of its operations before those of the derivatives that the report takes.
    - `request`: What the report should show.
    - `derivatives`: The derivatives of the targets with respect to the sources.
    - `context`: The names and lines of the program.
    - `gradient_calls`: The calls by which the program itself took gradients.
    - `matrices`: The full matrices that were requested; those of Dask arrays have no numbers yet.
    """

    whole: Snapshot
    operations: int
    request: ReportRequest
    derivatives: GradientTable
    context: Context = field(default_factory=Context)
    gradient_calls: Sequence[GradientCall] = ()
    matrices: list[PendingMatrix] = field(default_factory=list)

    @property
    def targets(self) -> Sequence[Named]:
        """The names and values of the targets."""
        return self.request.targets

    @property
    def sources(self) -> Sequence[Named]:
        """The names and values of the sources."""
        return self.request.sources

    @property
    def order(self) -> int:
        """The highest order of derivatives."""
        return self.request.order

    @cached_property
    def known_names(self) -> Mapping[int, str]:
        """The names of values by id; a variable has one name for all its values."""
        tensors = [(name, value) for name, value in self.context.named if has_id(value)]
        # Reversed, so that the first name of a tensor with several wins.
        names = {id_of(value): name for name, value in reversed(tensors)}
        names |= self.context.earlier
        both = [*self.sources, *self.targets]
        names |= {id_of(value): name for name, value in both if has_id(value)}
        for (t, s, level), gradient in self.derivatives.gradients.items():
            if has_id(gradient):
                symbol = derivative_symbol(self.targets[t][0], self.sources[s][0], level)
                # A name from the program is better than a symbol.
                names.setdefault(id_of(gradient), symbol)
        return names

    @cached_property
    def known_roles(self) -> Mapping[int, Role]:
        """The roles of watched values and targets, by id."""
        roles: dict[int, Role] = dict.fromkeys(self.whole.leaves, "watched")
        roles |= {id_of(variable): "variable" for variable in self.whole.contents.variables}
        named = [value for _, value in self.sources if not isinstance(value, Variable)]
        roles |= {id_of(value): "watched" for value in named}
        goals: dict[int, Role] = {id_of(value): "target" for _, value in self.targets}
        # In this order, so that a target that is also watched stays watched.
        return goals | roles

    @cached_property
    def reads(self) -> Reads:
        """The values of watched variables that operations read."""
        return reads(self.whole, self._unsplit_positions)

    @cached_property
    def _unsplit_positions(self) -> Sequence[int]:
        """The positions of the operations that a report shows, as long as a variable has one id."""
        # Splitting needs the operations that are shown, and these depend on ids, which splitting changes.
        # Hence two passes: this one has the ids before.
        return drawn_positions(self.whole.records, self.known_names, self.known_roles)

    @cached_property
    def split(self) -> SplitVersions:
        """The recording in which every value of a variable that changed has its own id."""
        return split_versions(self.whole, self.reads, [id_of(value) for _, value in self.targets])

    @property
    def snapshot(self) -> Snapshot:
        """The recording in which every value of a variable that changed has its own id."""
        return self.split.snapshot

    @cached_property
    def records(self) -> Sequence[Record]:
        """The operations of `snapshot`, oldest first."""
        return list(map(Record._make, self.snapshot.records))

    def place(self, number: int) -> tuple[int, int] | None:
        """The position of the record that made a value, and the number of the result; by the value's id."""
        records = self.snapshot.records
        # Ids rise along the tape, so the record that made a value is found in logarithmic time.
        position = bisect_left(records, number, key=_last_id)
        if position < len(records):
            output_ids = outputs_of(records[position])
            if number in output_ids:
                return position, output_ids.index(number)
        return None

    @cached_property
    def names(self) -> Mapping[int, str]:
        """The names of values by id; the values of a variable w that changed are w₁, w₂ and so on."""
        return self.split.names(self.known_names)

    @cached_property
    def stems(self) -> Mapping[int, str]:
        """The names by id without the subscripts that count the values of a name, without empty names."""
        return {i: without_subscript(name) for i, name in self.names.items() if name}

    @cached_property
    def roles(self) -> Mapping[int, Role]:
        """The roles of watched values and targets, by id."""
        return self.split.roles(self.known_roles)

    @cached_property
    def positions(self) -> Sequence[int]:
        """The positions of the operations that a report shows, without dead ends that other operations cause."""
        if not self.split.versions:
            return self._unsplit_positions
        return drawn_positions(self.snapshot.records, self.names, self.roles)

    @cached_property
    def tree(self) -> Block:
        """The operations that a report shows as a tree of loops, iterations, calls and derivatives."""
        return fold(self.snapshot, self.positions)

    @cached_property
    def symbols(self) -> Mapping[int, str]:
        """The symbols of the values on the tape, by id: their names, or v1, v2 and so on in the order of the tape.

        In a program with a name v, whose earlier values are v₁, v₂ and so on, they are t1, t2 and so on.
        """
        symbols = dict(self.names)
        taken = set(symbols.values())
        # A reader would confuse v1 with a v₁ of the program.
        letter = "t" if "v" in map(without_subscript, taken) else "v"
        numbered = (name for k in count(1) if (name := f"{letter}{k}") not in taken)
        tracked, records = self.snapshot.tracked, self.snapshot.records
        for position in self.positions:
            _, _, ids, _, _, output_ids = records[position]
            for i in ids:
                if i in tracked and not symbols.get(i):
                    symbols[i] = next(numbered)
            for i in output_ids if isinstance(output_ids, tuple) else (output_ids,):
                if i in tracked and not symbols.get(i):
                    symbols[i] = next(numbered)
        return symbols

    @cached_property
    def adjoints(self) -> Adjoints:
        """The gradients with respect to all values, by id: small ones as arrays, larger ones as summaries."""
        # Rules may divide by zero or overflow; the verdict says so if a gradient isn't finite.
        with np.errstate(all="ignore"):
            targets = [value for _, value in self.targets]
            return adjoints_of(self.snapshot, targets, self.derivatives, self.order)

    @cached_property
    def training_calls(self) -> Sequence[GradientStep]:
        """The calls by which the program took gradients of values other than gradients, with respect to Variables."""
        records = self.whole.records[self.operations :]
        end = outputs_of(records[0])[0] if records else math.inf
        # The gradients that the report took are none.
        return [step for step in self.whole.origins.steps if step.time <= end]

    @cached_property
    def step_gradients(self) -> StepGradients:
        """The gradients that training steps took, for values on which the report's targets don't depend."""
        return StepGradients(self.snapshot, self.names, self.training_calls)

    @cached_property
    def after_gradients(self) -> AbstractSet[int]:
        """The values that the cell computed from gradients it took, such as the changes of Variables, by id."""
        order_of = self.whole.origins.order_of
        after: set[int] = set()
        for record in self.whole.records[: self.operations] if self.gradient_calls else ():
            if any(i in after or i in order_of for i in record[2]):
                after.update(Record._make(record).output_ids)
        return after

    @cached_property
    def levels(self) -> Mapping[int, int]:
        """The order of the report's derivative that a value belongs to, by id, without the values of the cell (0)."""
        return levels(self.snapshot, self.derivatives)

    @cached_property
    def has_lazy_values(self) -> bool:
        """Return True if the cell computed with values such as Dask arrays, which are computed later."""
        return has_lazy_values(self.whole.records[: self.operations])

    @cached_property
    def given_to_layers(self) -> AbstractSet[int]:
        """The identities of the arrays that layers received, maybe after a cast."""
        scopes = (call.scope for call in self.whole.origins.calls if call.scope)
        return {id(array) for scope in scopes for _, array in scope.arguments}

    @cached_property
    def norms(self) -> dict[int, float]:
        """The norms of arrays in the recording, by the identity of the array, filled when they are first needed."""
        return {}

    @cached_property
    def _shared(self) -> dict[Callable[[Subject], Any], Any]:
        return {}

    def forget(self) -> None:
        """Drop what is shared between tabs."""
        self._shared.clear()
        self._written.clear()

    def shared(self, make: Callable[[Subject], T]) -> T:
        """Return ``make(self)``, computed once: what several tabs need, such as the rows of gradients."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return cast(T, self._shared[make])

    @cached_property
    def _written(self) -> dict[Hashable, Any]:
        return {}

    def once(self, key: Hashable, write: Callable[[], T]) -> T:
        """Return the result of `write`, which is cached for other tables.

        Parameters
        ----------
        key : hashable
            The kind of cell and its position: equal keys mean equal cells.
        write : callable
        """
        cache = self._written
        if key not in cache:
            # Cleared completely: to find out which cells are old would need a record of every use.
            if len(cache) >= MAX_WRITTEN:
                cache.clear()
            cache[key] = write()
        return cast(T, cache[key])


def _last_id(record: Any) -> int:
    return outputs_of(record)[-1]
