"""Roles of a cell's values in training: losses, gradients, and optimizer steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from math import inf

from tapemagic.engine.recording import is_gradient_stamp, is_stamp, time_of
from tapemagic.engine.tape.observer import GradientCall
from tapemagic.engine.tensor.tensor import Traced, id_of, wrap
from tapemagic.explain.snapshot import Named
from tapemagic.ipython.session import Session
from tapemagic.report.drawn_records import READS
from tapemagic.report.tabs.gradients.own_gradients import target_names


class TrainingRoles:
    """Tells losses from gradients and optimizer steps.

    - `session`: The cell, which has run.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # By what the cell did, not by names: a loss may be called anything.
        self._calls = session.observer.gradient_calls()

    def is_step(self, value: Traced) -> bool:
        """Return True if a value is a gradient, is computed from gradients, or was assigned to a Variable."""
        number = id_of(value)
        return number in self._steps or number in self._assigned_values or self._is_moved(value)

    def is_trained(self, value: Traced) -> bool:
        """Return True for the value of a Variable that the cell trains by gradients of its own loss."""
        return self._variable_of(value) in self._assigned and bool(self.differentiated())

    def _variable_of(self, value: Traced) -> int:
        """Return the id of the Variable that a value was read from, or the id of the value itself."""
        for number, _, ids, _, _, output_id in reversed(self._session.snapshot().records):
            if output_id == id_of(value):
                return int(ids[0]) if number in READS else id_of(value)
        return id_of(value)

    def losses(self) -> Sequence[Named]:
        """Return the targets of the cell's own gradients, if it assigns to Variables.

        A loss computed from gradients only, such as the residual of a differential equation, is chosen if
        no other target has gradients with respect to the Variables.
        """
        if not self._assigned:
            return []
        training = [
            call for call in self._calls if any(id_of(x) in self._assigned for x in call.sources)
        ]
        order_of = self._session.observer.order_of
        return (
            self._targets(training, lambda x: not self.is_step(x))
            or self._targets(
                training, lambda x: not order_of(x) and id_of(x) not in self._assigned_values
            )
            or self.differentiated()
        )

    def differentiated(self) -> Sequence[Named]:
        """Return the targets of the last gradient that the cell computed of anything but a gradient."""
        return self._targets(self._calls, lambda x: not self.is_step(x))

    def trained(self) -> Sequence[Named]:
        """Return the loss of the last training step that tapemagic ran for the cell, as `fit` does."""
        snapshot = self._session.snapshot()
        if not snapshot.origins.steps or self._calls:
            return []
        step = snapshot.origins.steps[-1]
        name = "last loss" if "loss" in self._session.cell.namespace else "loss"
        outputs = (r[4] for r in reversed(snapshot.records) if (r[5],) == step.targets)
        return [(name, wrap(output, step.targets[0])) for output in islice(outputs, 1)]

    def _targets(
        self, calls: Sequence[GradientCall], fits: Callable[[Traced], bool]
    ) -> Sequence[Named]:
        """Return the fitting targets of the last call that has any."""
        session = self._session
        names = session.value_names()
        for call in reversed(calls):
            targets = [
                (names.get(id_of(x)) or name, x)
                for name, x in zip(target_names(call), call.targets, strict=True)
                if session.is_computed(x) and fits(x)
            ]
            if targets:
                return list(dict(targets).items())
        return []

    @cached_property
    def _assigned(self) -> set[int]:
        """Ids of the Variables that the cell assigned to."""
        return {event.number for event in self._session.snapshot().events_of("assigned", "changed")}

    @cached_property
    def _assigned_values(self) -> set[int]:
        """Ids of the values that were assigned to Variables."""
        events = self._session.snapshot().events_of("assigned", "changed")
        return {event.what for event in events if isinstance(event.what, int)}

    def _is_moved(self, value: Traced) -> bool:
        """Return True if a value replaced a source of the cell's own gradients under the same name."""
        sources = {id_of(x) for call in self._calls for x in call.sources}
        return any(
            bound[-1][0] == id_of(value) and any(i in sources for i, _ in bound[:-1])
            for bound in self._session.bindings.values()
            if bound
        )

    @cached_property
    def _steps(self) -> set[int]:
        """Ids of gradients, and of values computed only from gradients, watched values and constants.

        A constant computed after the first gradient counts as computed from it. A loss with a penalty on a gradient is
        not a step, because it also depends on other values.
        """
        snapshot = self._session.snapshot()
        since = min((call.time for call in self._calls), default=inf)
        steps: set[int] = set()
        computed: set[int] = set()
        for record, order in zip(snapshot.records, snapshot.origins.orders, strict=True):
            number, _, ids, _, _, output_id = record
            outputs = output_id if isinstance(output_id, tuple) else (output_id,)
            of_gradients = any(
                i in steps or is_gradient_stamp(i) or (is_stamp(i) and time_of(i) >= since)
                for i in ids
            )
            of_others = any(i in computed for i in ids)
            if order or (of_gradients and not of_others):
                steps.update(outputs)
            elif number not in READS or of_others:
                computed.update(outputs)
        return steps
