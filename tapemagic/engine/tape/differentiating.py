"""Walking back along the records of a tape, and what becomes of the tape by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapemagic.engine.recording import live, recording_tapes
from tapemagic.engine.tape.batched_sweep import basis_of, batched_sweep
from tapemagic.engine.tape.cotangents import mark_stopped, seeds
from tapemagic.engine.tape.recorder import Watching, warn
from tapemagic.engine.tape.sweep import Gradients, reachable, sweep
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.errors import ConsumedTapeError, NotRecordingError

Walk = Callable[..., Gradients]
"""What walks back to the sources with the numbers that it is given first."""


class Differentiating(Watching):
    """A tape that can be walked back, from targets or from each of their elements."""

    def _differentiate(self, walk: Walk, ids: set[int], *of: Any) -> Gradients:
        """Walk back along the records to the sources; a tape that is not persistent is used up by it."""
        if not self._usable:
            raise self._unusable()
        resume = self._recording and self._stops_to_differentiate()
        try:
            grads = walk(ids, *of)
        except BaseException:
            if resume:
                self._start()
            raise
        if not self._persistent:
            self._usable = False
            self._last_leaves = self._leaves
            if not grads.keys() >= ids:
                self._last_evidence = self._evidence()
            self._clear()
        return grads

    def _unusable(self) -> Exception:
        """Why there is nothing to differentiate."""
        if not self._entered:
            return NotRecordingError(
                "this GradientTape was never entered, and has recorded nothing: enter it first, with 'with tape:', "
                "and compute the target inside that block"
            )
        return ConsumedTapeError(
            "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians): "
            "ask for all of them in one call, tape.gradient(y, [a, b]), or write "
            "GradientTape(persistent=True), which is -p in the line of %%tape"
        )

    def _stops_to_differentiate(self) -> bool:
        """Stop recording before the walk, unless a persistent tape is to hear of its own gradient."""
        self._require_here("a gradient")
        if not self._persistent:
            self._stop()
            return True
        if not self._warned:
            self._warned = True
            warn(
                "Calling GradientTape.gradient on a persistent tape inside its context is less efficient "
                "than calling it outside: the gradient's operations are recorded too. Do so only for "
                "higher order derivatives."
            )
        return False

    def _gradients(
        self, ids: set[int], targets: Sequence[Traced], cotangents: list[Tensor] | None
    ) -> Gradients:
        """Walk back from the targets to the sources."""
        tapes = live() and recording_tapes()
        grads = seeds(targets, cotangents, bool(tapes))
        tracked, kept = self._goal(ids)
        if not tapes:
            return sweep(self._records, tracked, grads, kept, False)
        for tape in tapes:
            tape._sweep_begins(grads)
        try:
            return sweep(self._records[:], tracked, grads, kept, True)
        finally:
            for tape in tapes:
                tape._sweep_ends()

    def _rows(self, ids: set[int], target: Traced, by_example: bool) -> Gradients:
        """Walk back from each element of the target, or of its examples, to the sources."""
        if target.dtype.kind not in "fc":
            return {}
        nested = bool(recording_tapes())
        diagonals = seeds([target], None, nested)
        tracked, kept = self._goal(ids)
        basis = basis_of(target, by_example)
        for tape in live():
            tape._sweep_begins(diagonals)
        try:
            return batched_sweep(self._records[:], tracked, diagonals, ids, kept, basis, nested)
        finally:
            for tape in live():
                tape._sweep_ends()

    def _goal(self, ids: set[int]) -> tuple[Mapping[int, int], set[int]]:
        """What is to be passed gradients, and which of the sources are intermediate values."""
        tracked = self._tracked
        if self._rewatched is not None:
            mark_stopped(self._records, tracked, self._rewatched)
        if not ids >= self._leaves:
            tracked = reachable(self._records, tracked, ids)
        return tracked, ids - self._leaves
