"""GradientTape: TensorFlow's, on NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from tapemagic.engine.memory import Memory, ignore
from tapemagic.engine.recording import go_live, go_quiet, live, new_id
from tapemagic.engine.seeds import identify, matched_cotangents, seeds
from tapemagic.engine.structure import pack, tensors
from tapemagic.engine.sweep import Gradients, reachable, sweep
from tapemagic.engine.tensor import Tensor, Traced
from tapemagic.engine.unconnected import UnconnectedGradients, result_for, zero_wanted
from tapemagic.engine.variable import Variable
from tapemagic.errors import (
    ConsumedTapeError,
    NotATensorError,
    NotRecordingError,
    NotWatchableError,
    TapeStateError,
)


class GradientTape(Memory):
    """Records operations on watched tensors, and differentiates what it recorded.

    Parameters
    ----------
    persistent : bool, optional
        Keep the records after the first gradient, so that more can be taken.
    watch_accessed_variables : bool, optional
        Watch every trainable `Variable` as soon as it is read.

    Notes
    -----
    An operation is recorded while the tape is entered, on the thread that entered it, if one of its inputs is a
    real or complex tensor that was watched, or that was computed from such a one.

    Examples
    --------
    >>> import tapemagic as tm
    >>> x = tm.constant(3.0)
    >>> with tm.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    Tensor(6.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = bool(persistent)
        self._watch_accessed_variables = bool(watch_accessed_variables)
        self._variables: dict[int, Variable] = {}
        self._clear()

    _paused = _entered = _consumed = _warned = False

    # -- life ---------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"GradientTape(persistent={self._persistent})"

    def __enter__(self) -> Self:
        if self._recording:
            raise TapeStateError(
                "Tape is still recording: leave its first 'with' block before entering it again, "
                "or make a second GradientTape for a higher order"
            )
        if self._consumed:
            self._clear()
            self._variables = {}
        self._entered, self._consumed = True, False
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

    def _start(self) -> None:
        self._recording = True
        self._append = self._take
        go_live(self)

    def _stop(self) -> None:
        self._recording = False
        self._append = ignore
        go_quiet(self)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block; results computed in it are constants for this tape.

        Raises
        ------
        NotRecordingError
            If the tape was never entered.
        TapeStateError
            If the tape is not recording just now.
        """
        if not self._entered:
            raise NotRecordingError(
                "Trying to stop recording a tape which is not recording: enter it first, with 'with tape:'"
            )
        self._require_recording("stop_recording")
        self._stop()
        self._paused = True
        try:
            yield
        finally:
            self._paused = False
            if not self._consumed:
                self._start()

    def reset(self) -> None:
        """Forget all records, and everything that was watched, and go on recording.

        Raises
        ------
        TapeStateError
            If the tape is not recording just now.
        """
        self._require_recording("reset")
        self._clear()
        self._variables = {}

    def _require_recording(self, what: str) -> None:
        if not self._recording:
            raise TapeStateError(f"Tape is not recording: {what}() belongs inside its 'with' block")

    # -- watching -----------------------------------------------------------------------------------------------

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
        if self._consumed:
            raise TapeStateError(
                "watch() on a tape that is used up: its first gradient released it; make a new GradientTape, "
                "or make this one with persistent=True"
            )
        if not live() and not self._paused:
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

    def _track(self, x: Traced) -> None:
        i = x._id or identify(x)
        if i not in self._tracked and x._value.dtype.kind in "fc":
            self._tracked[i] = new_id()
            self._leaves.add(i)

    def _notice(self, variable: Variable) -> None:
        """Hear that a variable is being read."""
        i = variable._id
        if i not in self._variables and self._watch_accessed_variables and variable._trainable:
            self._variables[i] = variable
            self._track(variable)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that the tape watches, in the order in which they were made."""
        return tuple(sorted(self._variables.values(), key=lambda variable: variable._created))

    # -- gradients ----------------------------------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the target, or of the sum of several, with respect to each source.

        Parameters
        ----------
        target : Tensor, Variable, or nested structure of them
            What to differentiate; arrays count as the sum of their elements.
        sources : Tensor, Variable, or nested structure of them
            What to differentiate with respect to: watched tensors, variables, or intermediate results.
        output_gradients : array_like or structure of them, optional
            What to weigh the elements of each target with: one for each target, of its shape. Ones if left out.
        unconnected_gradients : UnconnectedGradients or {'none', 'zero'}, optional
            What stands for the gradient of a source on which the target does not depend.

        Returns
        -------
        structure of Tensor or None
            Of the structure of `sources`, each of its source's shape and dtype.

        Raises
        ------
        ConsumedTapeError
            If the tape is not persistent, and has given a set of gradients before.
        NotATensorError
            If a target or source is no tensor.
        OptionError
            If `unconnected_gradients` is unknown.
        ShapeError
            If `output_gradients` do not match the targets.

        Notes
        -----
        For complex values this is TensorFlow's convention: the conjugate of the holomorphic derivative.

        Examples
        --------
        >>> import numpy as np, tapemagic as tm
        >>> x = tm.Variable([1.0, 2.0])
        >>> with tm.GradientTape() as tape:
        ...     y = np.sum(x**2)
        >>> tape.gradient(y, {"x": x})
        {'x': Tensor([2., 4.])}
        """
        zero = zero_wanted(unconnected_gradients)
        if target is None:
            raise NotATensorError(
                "Argument `target` should be a Tensor, or a list or nested structure of Tensors and Variables to be "
                "differentiated, but received None"
            )
        targets = tensors(target, "a target")
        wanted = tensors(sources, "a source")
        cotangents = None
        if output_gradients is not None:
            cotangents = matched_cotangents(output_gradients, target, targets)
        self._require_unused()
        grads = self._differentiate(targets, cotangents, wanted)
        results = [result_for(grads.get(x._id), x, zero) for x in wanted]
        return results[0] if isinstance(sources, Traced) else pack(sources, iter(results))

    def _require_unused(self) -> None:
        if self._consumed:
            raise ConsumedTapeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians): "
                "ask for all of them in one call, tape.gradient(y, [a, b]), or write "
                "GradientTape(persistent=True), which is -p in the line of %%tape"
            )

    def _differentiate(
        self, targets: list[Traced], cotangents: list[Tensor] | None, sources: list[Traced]
    ) -> Gradients:
        """Walk back from the targets to the sources; a tape that is not persistent is used up by it."""
        resume = self._recording and not self._persistent
        if resume:
            self._stop()
        elif self._recording and not self._warned:
            self._warned = True
            warn(
                "Calling GradientTape.gradient on a persistent tape inside its context is less efficient "
                "than calling it outside: the gradient's operations are recorded too. Do so only for "
                "higher order derivatives."
            )
        try:
            grads = self._walk(targets, cotangents, sources)
        except BaseException:
            if resume:
                self._start()
            raise
        if not self._persistent:
            self._consumed = True
            self._clear()
        return grads

    def _walk(
        self, targets: list[Traced], cotangents: list[Tensor] | None, sources: list[Traced]
    ) -> Gradients:
        tapes = live()
        nested = bool(tapes)
        grads = seeds(targets, cotangents, nested)
        ids = {x._id or identify(x) for x in sources}
        records, tracked = self._records, self._tracked
        if not ids >= self._leaves:
            tracked = reachable(records, tracked, ids)
        kept = ids - self._leaves
        if not nested:
            return sweep(records, tracked, grads, kept, False)
        for tape in tapes:
            tape._sweep_begins(grads)
        try:
            return sweep(records[:], tracked, grads, kept, True)
        finally:
            for tape in tapes:
                tape._sweep_ends()

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None:
        """Hear that what is recorded from now on differentiates `targets`."""

    def _sweep_ends(self) -> None:
        """Hear that the sweep is over."""


def warn(message: str, *args: Any) -> None:
    """Log a warning: it goes where the notebook's author sends it, and carries no path."""
    import logging

    logging.getLogger("tapemagic").warning(message, *args)
