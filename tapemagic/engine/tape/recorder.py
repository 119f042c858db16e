"""Entering and leaving a tape, and what it watches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from tapemagic.engine.events import MOST, Event, Kind, Place, user_line
from tapemagic.engine.nest import tensors
from tapemagic.engine.recording import go_live, go_quiet, is_here, live, new_id, tick
from tapemagic.engine.tape.cotangents import NEVER, identify
from tapemagic.engine.tape.storage import Memory, ignore
from tapemagic.engine.tensor.coercion import flag
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import NotRecordingError, NotWatchableError, TapeStateError

USED_UP = "used up: its first gradient released it; make a new GradientTape, or make this one with persistent=True"
"""What to say of a tape that is not persistent, and has given its gradients."""


class Watching(Memory):
    """A tape that records while it is entered, what is computed from the values that it watches."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent is not False and flag(persistent, "persistent")
        self._watch_accessed_variables = watch_accessed_variables is True or flag(
            watch_accessed_variables, "watch_accessed_variables"
        )
        self._variables: dict[int, Variable] = {}
        self._events: list[Event] = []
        self._times: list[int] = []
        self._clear()

    _heard: dict[Place | None, int] | None = None
    _paused = _entered = _usable = _warned = False

    @property
    def _consumed(self) -> bool:
        """Whether a gradient used the tape up."""
        return self._entered and not self._usable

    def __repr__(self) -> str:
        return f"GradientTape(persistent={self._persistent})"

    def __enter__(self) -> Self:
        if self._recording:
            self._require_here("entering it")
            raise TapeStateError(
                "Tape is still recording: leave its first 'with' block before entering it again, "
                "or make a second GradientTape for a higher order"
            )
        if not self._usable and self._entered:
            self._clear()
            self._variables = {}
            self._events = []
            self._times = []
            self._heard = None
            self._last_evidence = None
            self._last_leaves = frozenset()
        self._entered = self._usable = True
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._recording:
            self._stop()
        elif self in live():
            go_quiet(self)

    def _start(self) -> None:
        self._recording = True
        self._append = self._take
        self._times.append(go_live(self))

    def _stop(self) -> None:
        self._recording = False
        self._append = ignore
        self._times.append(go_quiet(self))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block; results computed in it are constants for this tape.

        Raises
        ------
        NotRecordingError
            If the tape was never entered, or its first gradient used it up.
        TapeStateError
            If the tape is not recording just now, or if it is when this block is left, since it was entered inside.
        """
        if not self._usable:
            how = f"it is {USED_UP}" if self._entered else "enter it first, with 'with tape:'"
            raise NotRecordingError(
                f"Trying to stop recording a tape which is not recording: {how}"
            )
        self._require_recording("stop_recording")
        self._stop()
        self._paused = True
        try:
            yield
        finally:
            self._paused = False
            if self._recording:
                raise TapeStateError(
                    "Tape is still recording: it was entered inside the block of stop_recording(), and that 'with' "
                    "has to be left before this one"
                )
            if self._usable:
                self._hear("paused", self._times[-1], tick())
                self._start()

    def reset(self) -> None:
        """Forget all records, and everything that was watched, and go on recording.

        Raises
        ------
        TapeStateError
            If the tape is not recording just now.
        """
        self._require_recording("reset")
        watched = frozenset(self._leaves)
        self._clear()
        self._variables = {}
        self._hear("reset", tick(), watched)

    def _hear(self, kind: Kind, i: int, what: Any) -> None:
        """Remember an event, and the line of the program that did it."""
        place = user_line()
        if self._heard is None:
            self._heard = {}
        count = self._heard[place] = self._heard.get(place, 0) + 1
        if count <= MOST:
            self._events.append(Event(kind, i, what, place, tick()))

    def _require_recording(self, what: str) -> None:
        if not self._recording:
            why = (
                f"it is {USED_UP}"
                if self._consumed
                else f"{what}() belongs inside its 'with' block"
            )
            raise TapeStateError(f"Tape is not recording: {why}")
        self._require_here(f"{what}()")

    def _require_here(self, what: str) -> None:
        """Refuse to be disturbed by one thread while recording another."""
        if not is_here(self):
            raise TapeStateError(
                f"Tape is still recording on another thread: {what} has to wait until its 'with' block is left; "
                "to record here, make a GradientTape for this thread"
            )

    def watch(self, tensor: Any) -> None:
        """Track a tensor, so that gradients with respect to it can be taken.

        Parameters
        ----------
        tensor : Tensor, Variable, or nested structure of them
            Whole numbers and truth values may be watched, but have no gradient; a warning says so.

        Raises
        ------
        NotWatchableError
            If something else is among them.
        TapeStateError
            If the tape was not entered yet, or has been used up.
        """
        found = tensors(tensor, "what a tape watches", NotWatchableError)
        if not self._entered:
            raise TapeStateError(
                "watch() before the tape records: write 'with GradientTape() as tape:' first, "
                "and call tape.watch(x) inside that block"
            )
        if not self._usable:
            raise TapeStateError(f"watch() on a tape that is {USED_UP}")
        if not live() and not self._paused:
            if self._recording:
                self._require_here("watch()")
            return
        for x in found:
            if x.dtype.kind not in "fc":
                warn(
                    "The dtype of the watched tensor must be floating (e.g. float64), got %s: its gradient is None",
                    x.dtype,
                )
            if isinstance(x, Variable):
                self._variables.setdefault(x._id, x)
            self._track(x)
        tick()

    def _track(self, x: Traced) -> None:
        i = identify(x)
        if x._value.dtype.kind not in "fc":
            return
        if i not in self._tracked:
            self._tracked[i] = new_id()
            self._leaves.add(i)
        elif self._tracked[i] == NEVER:
            self._tracked[i] = new_id()

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None:
        """Hear that what is recorded from now on differentiates `targets`."""

    def _sweep_ends(self) -> None:
        """Hear that the sweep is over."""

    def _notice(self, variable: Variable) -> None:
        """Hear that a variable is being read."""
        i = variable._id
        if i not in self._variables and self._watch_accessed_variables and variable._trainable:
            self._variables[i] = variable
            self._track(variable)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that the tape watches, in the order in which they were made."""
        return tuple(sorted(self._variables.values(), key=lambda variable: variable._created))


def warn(message: str, *args: Any) -> None:
    """Log a warning: it goes where the notebook's author sends it, and carries no path."""
    import logging

    logging.getLogger("tapemagic").warning(message, *args)
