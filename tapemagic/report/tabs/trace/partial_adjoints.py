"""The gradients of a drawn graph as they fill in during the reverse sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tapemagic.report.summary import summarise
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.trace.shares import Place, Share

UNKNOWN = "…"
"""A sign for a sum that is not known until it is complete."""


class FillingIn:
    """The gradients in the boxes of a graph: begun, added to, and complete once every share has arrived.

    Parameters
    ----------
    drawn : DrawnGraph
    shares : mapping
        Those of the values that have boxes, in the order of the reverse sweep, by their ids.
    starts : mapping of int to array
        The gradients with which the sweeps begin, by the ids of the targets.
    """

    def __init__(
        self,
        drawn: DrawnGraph,
        shares: Mapping[int, Mapping[Place, Share]],
        starts: Mapping[int, Any],
    ) -> None:
        self._index = drawn.values
        self._values = drawn.graph.values
        self._starts = starts
        known = {i for i, k in self._index.items() if self._values[k].gradient is not None}
        self._shares = {i: list(shares.get(i, {}).items()) for i in known}
        self._arrived = dict.fromkeys(known, 0)
        self._furthest = dict.fromkeys(known, 0)
        self._complete: set[int] = set()
        self.arriving: dict[int, list[tuple[Place, int, int]]] = {}
        """By the position of an operation, its shares: the place, the id of the value, and the number of the share."""
        for i, places in self._shares.items():
            for number, (place, _) in enumerate(places, 1):
                self.arriving.setdefault(place[0], []).append((place, i, number))

    def begin(self, i: int) -> dict[int, str]:
        """The gradient of a target, from its seed on; keys are indices of values in the graph."""
        if i not in self._shares or self.is_complete(self._index[i]):
            return {}
        if not self._shares[i]:
            return self.finish([i])
        return {self._index[i]: summarise(self._starts[i]).entries}

    def arrive(self, position: int, operand: int | None = None) -> dict[int, str]:
        """The gradients after an operation has passed back to one of its inputs, or to all that remain."""
        here = self.arriving.get(position, [])
        now = [x for x in here if operand is None or x[0][1] == operand]
        self.arriving[position] = [x for x in here if x not in now]
        found: dict[int, str] = {}
        for _, i, number in now:
            self._arrived[i] += 1
            self._furthest[i] = max(number, self._furthest[i])
            if not self.is_complete(self._index[i]):
                found[self._index[i]] = self._text(i)
        return found

    def _text(self, i: int) -> str:
        """The gradient of a value so far."""
        places, arrived = self._shares[i], self._arrived[i]
        if arrived == len(places):
            return self._finished(i)
        after = places[arrived - 1][1].after if self._furthest[i] == arrived else None
        return UNKNOWN if after is None else summarise(after).entries or UNKNOWN

    def finish(self, ids: Iterable[int]) -> dict[int, str]:
        """The gradients of those of some values that are not complete yet."""
        return {
            self._index[i]: self._finished(i)
            for i in ids
            if i in self._shares and not self.is_complete(self._index[i])
        }

    def _finished(self, i: int) -> str:
        self._complete.add(self._index[i])
        return str(self._values[self._index[i]].gradient)

    def rest(self) -> list[int]:
        """The ids of the values whose gradients are not complete."""
        return [i for i in self._shares if not self.is_complete(self._index[i])]

    def is_complete(self, index: int) -> bool:
        """Whether the gradient of a value of the graph is complete."""
        return index in self._complete
