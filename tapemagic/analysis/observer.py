"""Observer: a tape that keeps everything it hears, for somebody to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tapemagic.engine.tape.tape import GradientTape

Where = Callable[[], int | None]


def nowhere() -> None:
    """The line of an operation that no cell wrote."""


class Observer(GradientTape):
    """A persistent tape that also keeps the line of every operation and the order of differentiation.

    Parameters
    ----------
    where : callable, optional
        Called at each operation; gives the line of the cell that is running, or None.

    Attributes
    ----------
    lines : list of int or None
        For each record, the line that did it.
    orders : list of int
        For each record, 0 if the user wrote it, k if it belongs to a k-th derivative.
    seeds : list of (array, int)
        The arrays with which the derivatives began, and the numbers of what they differentiated.
    """

    def __init__(self, where: Where = nowhere, watch_accessed_variables: bool = True) -> None:
        self._where = where
        self.lines: list[int | None] = []
        self.orders: list[int] = []
        self.seeds: list[tuple[Any, int]] = []
        self._depths = [0]
        self._order_of: dict[int, int] = {}
        super().__init__(True, watch_accessed_variables)
        self._keeps = True
        self._warned = True

    def _clear(self) -> None:
        self.lines.clear()
        self.orders.clear()
        self.seeds.clear()
        self._order_of.clear()
        super()._clear()

    def _taker(self) -> Callable[[Any], None]:
        return _noting(
            self._records, self.lines, self.orders, self._depths, self._order_of, self._where
        )

    def order_of(self, number: int) -> int:
        """The order of the derivative to which a value belongs; 0 if the user computed it."""
        return self._order_of.get(number, 0)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hear nothing inside this block, if there was anything to hear."""
        if not self._recording:
            yield
            return
        self._stop()
        try:
            yield
        finally:
            self._start()

    def fork(self) -> GradientTape:
        """A tape that knows what this one has recorded, and hears what comes by itself."""
        fork = GradientTape(persistent=True, watch_accessed_variables=False)
        fork._records += self._records
        fork._tracked |= self._tracked
        fork._leaves |= self._leaves
        fork._keeps = fork._warned = True
        return fork

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None:
        self._depths.append(1 + max((self._order_of.get(i, 0) for i in targets), default=0))
        self.seeds += [(seed._value, i) for i, seed in targets.items()]

    def _sweep_ends(self) -> None:
        self._depths.pop()


def _noting(
    records: list[Any],
    lines: list[int | None],
    orders: list[int],
    depths: list[int],
    order_of: dict[int, int],
    where: Where,
) -> Callable[[Any], None]:
    """What appends a record with its line and order; it refers to the lists, and not to the tape."""

    def append(record: Any) -> None:
        order = depths[-1]
        records.append(record)
        lines.append(where())
        orders.append(order)
        if order:
            number = record[-1]
            order_of.update((i, order) for i in (number if type(number) is tuple else (number,)))

    return append
