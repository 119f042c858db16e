"""CellTape: the tape that a %%tape cell knows by its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from tapemagic.analysis.explain.caller import Explanations, explain_here
from tapemagic.analysis.explain.explain import Explanation
from tapemagic.analysis.observer import Observer
from tapemagic.engine.tape.differentiating import Walk
from tapemagic.engine.tape.sweep import Gradients
from tapemagic.engine.tape.tape import GradientTape
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable


class CellTape(GradientTape):
    """The user's tape in a %%tape cell, with an observer that hears what it hears.

    The observer outlives a gradient of this tape, so that showing a report never consumes the tape, and a
    gradient never empties the report.
    """

    def __init__(
        self, observer: Observer, persistent: bool, watch_accessed_variables: bool
    ) -> None:
        super().__init__(persistent, watch_accessed_variables)
        self._observer = observer
        self._warned = True

    def _track(self, x: Traced) -> None:
        super()._track(x)
        self._observer._track(x)
        if isinstance(x, Variable):
            self._variables.setdefault(x._id, x)
            self._observer._variables.setdefault(x._id, x)

    def reset(self) -> None:
        """Forget all records, and everything that was watched, and go on recording."""
        super().reset()
        if self._observer._recording:
            self._observer.reset()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block; results computed in it are constants for this tape."""
        observer = self._observer
        listening = observer.stop_recording() if observer._recording else nullcontext()
        with super().stop_recording(), listening:
            yield

    def explain(self, target: Any, source: Any) -> Explanation | Explanations:
        """As every tape's; the observer knows more."""
        return explain_here(self._observer, target, source)

    def _differentiate(self, walk: Walk, ids: set[int], *of: Any) -> Gradients:
        if self._persistent:
            return super()._differentiate(walk, ids, *of)
        with self._observer.paused():
            return super()._differentiate(walk, ids, *of)
