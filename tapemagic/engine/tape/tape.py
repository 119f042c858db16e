"""Tape: gradients and Jacobians of recorded operations, by reverse sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import pack, tensors
from tapemagic.engine.recording import live, new_id, recording_tapes
from tapemagic.engine.tape.base_tape import BaseTape, Contents, warn
from tapemagic.engine.tape.batched_sweep import (
    Basis,
    basis_of,
    batched_sweep,
    careful_batched_sweep,
    lazy_units,
)
from tapemagic.engine.tape.careful_sweep import (
    Zeros,
    agree,
    careful_sweep,
    has_nan,
    may_have_nan,
    spared,
)
from tapemagic.engine.tape.cotangents import key_of, mark_stopped, matched_cotangents, seeds
from tapemagic.engine.tape.cut import require_kept
from tapemagic.engine.tape.nested_sweeps import with_careful_sweeps
from tapemagic.engine.tape.sweep import (
    MIN_CHECKED_RECORDS,
    Gradients,
    NeededRecords,
    reachable,
    sweep,
)
from tapemagic.engine.tape.unconnected import NONE, UnconnectedGradients, result_for, zero_wanted
from tapemagic.engine.tensor.coercion import bool_option
from tapemagic.engine.tensor.messages import describe, tensor_advice
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.engine.tracing import tracer
from tapemagic.errors import ConsumedTapeError, NotATensorError, NotRecordingError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tapemagic.engine.tensor.result_types import HasResults

    R = TypeVar("R", bound=Tensor)
    K = TypeVar("K")
    Zero = Literal["zero", UnconnectedGradients.ZERO]
    # NumPy's stubs say that np.sin(x) is an array also for a tensor x.
    Computed = NDArray[Any]

Sweep = Callable[..., Gradients]
"""A reverse sweep, as a function whose first argument is the set of the sources' ids."""


class Tape(BaseTape):
    """A tape with gradients; `tapemagic.GradientTape` adds explanations and reports.

    Parameters
    ----------
    persistent : bool, optional
        Keep the records after the first gradient, so that more gradients can be computed.
    watch_accessed_variables : bool, optional
        Watch every trainable `Variable` at its first read.
    """

    # A gradient may be None unless zeros are requested; its class is that of results of its source.
    @overload
    def gradient(
        self,
        target: Any,
        sources: HasResults[R],
        output_gradients: Any = None,
        *,
        unconnected_gradients: Zero,
    ) -> R: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: HasResults[R],
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = ...,
    ) -> R | None: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Computed,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = ...,
    ) -> Tensor | None: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: tuple[HasResults[R], ...],
        output_gradients: Any = None,
        *,
        unconnected_gradients: Zero,
    ) -> tuple[R, ...]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: tuple[HasResults[R], ...],
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = ...,
    ) -> tuple[R | None, ...]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Sequence[HasResults[R]],
        output_gradients: Any = None,
        *,
        unconnected_gradients: Zero,
    ) -> list[R]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Sequence[HasResults[R]],
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = ...,
    ) -> list[R | None]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Mapping[K, HasResults[R]],
        output_gradients: Any = None,
        *,
        unconnected_gradients: Zero,
    ) -> dict[K, R]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Mapping[K, HasResults[R]],
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = ...,
    ) -> dict[K, R | None]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = ...,
    ) -> Any: ...
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Compute the gradient of the target, or of the sum of several targets, with respect to each source.

        For complex values, this follows TensorFlow: the result is the conjugate of the holomorphic derivative.

        Parameters
        ----------
        target : Tensor, Variable, or nested structure of them
            The values to differentiate. An array counts as the sum of its elements.
        sources : Tensor, Variable, or nested structure of them
            The values to differentiate with respect to: watched tensors, variables or intermediate results.
        output_gradients : array_like or structure of them, optional
            The weights of each target's elements, one array of the target's shape per target. Default: ones.
        unconnected_gradients : UnconnectedGradients or {'none', 'zero'}, optional
            The gradient of a source on which the target doesn't depend.

        Returns
        -------
        structure of Tensor or None
            With the structure of `sources`; each gradient has the shape and dtype of its source.

        Raises
        ------
        ConsumedTapeError
            If the tape isn't persistent, and has computed gradients before.
        NotATensorError
            If a target or a source isn't a tensor.
        NotRecordingError
            If the tape was never entered.
        OptionError
            If `unconnected_gradients` is unknown.
        ShapeError
            If `output_gradients` don't match the targets.

        Examples
        --------
        >>> import numpy as np, tapemagic as tm
        >>> x = tm.Variable([1.0, 2.0])
        >>> with tm.GradientTape() as tape:
        ...     y = np.sum(x**2)
        >>> tape.gradient(y, {"x": x})
        {'x': Tensor([2., 4.])}
        """
        zero = unconnected_gradients is not NONE and zero_wanted(unconnected_gradients)
        if target is None:
            raise NotATensorError(
                "Argument `target` should be a Tensor, or a list or nested structure of Tensors and Variables to be "
                "differentiated, but received None"
            )
        targets = tensors(target, "a target")
        source_list = tensors(sources, "a source")
        cotangents = None
        if output_gradients is not None:
            cotangents = matched_cotangents(output_gradients, target, targets)
        keys = [i if (i := x._id) > 0 else key_of(x) for x in source_list]
        grads = self._differentiate(self._gradients, set(keys), targets, cotangents)
        results = list(map(result_for, map(grads.get, keys), source_list, repeat(zero)))
        if live():
            self._report("gradient", targets, source_list, results, cotangents is not None)
        return results if source_list is sources else pack(sources, results)

    @overload
    def jacobian(
        self,
        target: Any,
        sources: HasResults[R],
        unconnected_gradients: Zero,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> R: ...
    @overload
    def jacobian(
        self,
        target: Any,
        sources: HasResults[R],
        unconnected_gradients: UnconnectedGradients | str = ...,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> R | None: ...
    @overload
    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = ...,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any: ...
    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,  # noqa: ARG002 (TensorFlow's signature)
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Compute the derivative of each element of the target with respect to each element of each source.

        Inside another tape's block it is recorded, so ``outer.jacobian(inner.gradient(y, x), x)`` is a Hessian. In
        addition to the result, it needs a few times 64 MB of memory at most, or a few times the largest recorded
        value.

        Parameters
        ----------
        target : Tensor or Variable
            The single value to differentiate.
        sources : Tensor, Variable, or nested structure of them
            The values to differentiate with respect to: watched tensors, variables or intermediate results.
        unconnected_gradients : UnconnectedGradients or {'none', 'zero'}, optional
            The Jacobian with respect to a source on which the target doesn't depend.
        parallel_iterations : int, optional
            Ignored; it exists for compatibility with TensorFlow. All rows are computed at once.
        experimental_use_pfor : bool, optional
            Ignored, except that False requires a persistent tape, as in TensorFlow.

        Returns
        -------
        structure of Tensor or None
            With the structure of `sources`; each of shape ``target.shape + source.shape`` and of its source's dtype.

        Raises
        ------
        ConsumedTapeError
            If the tape isn't persistent and has computed gradients before, or isn't persistent and
            `experimental_use_pfor` is False.
        NotATensorError
            If the target isn't a single tensor, or a source isn't a tensor.
        OptionError
            If `unconnected_gradients` is unknown, or `experimental_use_pfor` isn't True or False.

        Examples
        --------
        >>> import numpy as np, tapemagic as tm
        >>> x = tm.Variable([1.0, 2.0])
        >>> with tm.GradientTape() as tape:
        ...     y = np.cumsum(x * x)
        >>> tape.jacobian(y, x)
        Tensor([[2., 0.],
                [2., 4.]])
        """
        zero = zero_wanted(unconnected_gradients)
        _require_one(target, "jacobian", "target")
        source_list = tensors(sources, "a source")
        self._require_rows_at_once(experimental_use_pfor)
        keys = list(map(key_of, source_list))
        if target.size == 1:
            rows = self._differentiate(self._gradients, set(keys), [target], None)
        else:
            rows = self._differentiate(self._rows, set(keys), target, False)
        results = [
            result_for(rows.get(i), x, zero, target._value.shape + x._value.shape)
            for i, x in zip(keys, source_list, strict=True)
        ]
        if live():
            self._report("jacobian", [target], source_list, results)
        return pack(sources, results)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,  # noqa: ARG002 (TensorFlow's signature)
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """Compute the Jacobian of each example of a batch separately.

        Parameters
        ----------
        target : Tensor or Variable
            At least two axes, the first of which counts the examples. Example k should depend only on example k of
            the source; otherwise, the contributions of other examples are added up.
        source : Tensor or Variable
            At least two axes, the first of the same length.
        unconnected_gradients : UnconnectedGradients or {'none', 'zero'}, optional
            Ignored; it exists for compatibility with TensorFlow. The result is zeros if nothing is connected.
        parallel_iterations : int, optional
            Ignored; it exists for compatibility with TensorFlow.
        experimental_use_pfor : bool, optional
            Ignored, except that False requires a persistent tape, as in TensorFlow.

        Returns
        -------
        Tensor
            Its shape is ``(batch, *target.shape[1:], *source.shape[1:])``, its dtype the source's.

        Raises
        ------
        ConsumedTapeError
            See `jacobian`.
        NotATensorError
            If the target or the source isn't a single tensor.
        OptionError
            If `unconnected_gradients` is unknown.
        ShapeError
            If the target or the source has fewer than two axes, or their first axes differ in length.

        Examples
        --------
        >>> import numpy as np, tapemagic as tm
        >>> x = tm.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with tm.GradientTape() as tape:
        ...     y = x * x
        >>> tape.batch_jacobian(y, x)
        Tensor([[[2., 0.],
                 [0., 4.]],
        <BLANKLINE>
                [[6., 0.],
                 [0., 8.]]])
        """
        zero_wanted(unconnected_gradients)
        _require_one(target, "batch_jacobian", "target")
        _require_one(source, "batch_jacobian", "source")
        _require_batches(target, source)
        self._require_rows_at_once(experimental_use_pfor)
        key = key_of(source)
        rows = self._differentiate(self._rows, {key}, target, True)
        jacobian_rows = rows.get(key)
        shape = target._value.shape + source._value.shape[1:]
        if jacobian_rows is not None:
            jacobian_rows = np.moveaxis(jacobian_rows, 0, 1)
        result: Any = result_for(jacobian_rows, source, True, shape)
        if live():
            self._report("batch_jacobian", [target], [source], [result])
        return result  # type: ignore[no-any-return]

    def _report(
        self,
        method: str,
        targets: Sequence[Traced],
        sources: Sequence[Traced],
        results: Sequence[Any],
        weighted: bool = False,
    ) -> None:
        """Report gradients that this tape computed to the recording tapes."""
        for tape in live():
            tape._gradient_taken(self, method, targets, sources, results, weighted)

    def _differentiate(self, run: Sweep, ids: set[int], *of: Any) -> Gradients:
        """Run a reverse sweep. It releases the records of a tape that isn't persistent."""
        if not self._usable:
            raise self._unusable()
        if self._cut:
            targets = of[0] if isinstance(of[0], list) else [of[0]]
            require_kept(self, [x._id for x in targets], ids)
        resume = self._recording and self._stops_to_differentiate()
        try:
            grads = run(ids, *of)
        except BaseException:
            if resume:
                self._start()
            raise
        if not self._persistent:
            self._usable = False
            self._last_leaves = self._leaves
            # Only needed to explain a None: the connections, without the arrays.
            if not grads.keys() >= ids:
                self._last_connections = self._connections()
            self._release()
        return grads

    def _unusable(self) -> Exception:
        """Return the error for a tape without records to differentiate."""
        if not self._entered:
            return NotRecordingError(
                "this GradientTape was never entered, and has recorded nothing: enter it first, with 'with tape:', "
                "and compute the target inside that block"
            )
        return ConsumedTapeError(
            "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians): "
            "get all of them in one call, tape.gradient(y, [a, b]), or write "
            "GradientTape(persistent=True), which is -p in the line of %%tape"
        )

    def _stops_to_differentiate(self) -> bool:
        """Stop recording before the sweep, unless the tape is persistent and records its own gradient."""
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
        """Sweep from the targets to the sources."""
        tapes = live()
        if tapes:
            tapes = recording_tapes()
        grads = seeds(targets, cotangents, bool(tapes))
        tracked, kept = self._goal(ids)
        records: Any = self._records
        if not tapes:
            if len(records) > MIN_CHECKED_RECORDS:
                records = NeededRecords(records, tracked, grads, self._leaves, kept)
            grads = sweep(records, tracked, grads, kept, False)
            if may_have_nan(grads, ids):
                start = targets, cotangents, kept
                grads = self._without_poison(ids, self._records, start, grads, False)
            return grads
        for tape in tapes:
            tape._sweep_begins(grads)
        # A copy: rules on tensors append records to this very list if this tape is among the live ones.
        records = records[:]
        begin = new_id()
        try:
            grads = sweep(records, tracked, grads, kept, True)
            start = targets, cotangents, kept
            if may_have_nan(grads, ids):
                grads = self._without_poison(ids, records, start, grads, True)
            goal = targets[0]._id if len(targets) == 1 else 0
            note = None
            # A loop: a comprehension would cost a function call and a list in each nested sweep.
            for tape in tapes:
                if tape._notes_sweeps and (not goal or goal in tape._tracked):
                    note = note or (begin, new_id(), records, tracked, ids, grads, start)
                    tape._nested_sweeps.append(note)
            return grads
        finally:
            for tape in tapes:
                tape._sweep_ends()

    def _without_poison(
        self, ids: set[int], records: Sequence[Any], start: Any, usual: Gradients, nested: bool
    ) -> Gradients:
        """Sweep again if a gradient has a nan, and keep exact zeros where no operation uses a value.

        `start` is that of the usual sweep: see `NestedSweep`. `usual` are its gradients.
        """
        targets, cotangents, kept = start
        is_poisoned = self._careful and has_nan(usual, ids, records, targets, self._nested_sweeps)
        if not is_poisoned:
            return usual
        started = seeds(targets, cotangents, nested)
        records, tracked, zeros = self._with_careful_sweeps(ids, records)
        grads = careful_sweep(records, tracked, started, {}, kept, nested, (), zeros)
        if tracer() is None:
            if not agree(ids, usual, grads):
                return usual
            self._spared |= spared(ids, usual, grads)
        return grads

    def _with_careful_sweeps(
        self, ids: set[int], records: Sequence[Any]
    ) -> tuple[Sequence[Any], Mapping[int, int], Zeros]:
        """Return the records with careful sweeps instead of recorded ones, and the ids that receive gradients.

        For the third result, see `with_careful_sweeps`.
        """
        sweeps = self._nested_sweeps
        if not sweeps:
            return records, self._goal(ids)[0], {}
        scratch = tape_of(Contents((), {}, frozenset(), (), (), (), False, "whole"))
        new, tracked, zeros = with_careful_sweeps(scratch, records, self._tracked, sweeps)
        return new, reachable(new, tracked, ids), zeros

    def _rows(self, ids: set[int], target: Traced, by_example: bool) -> Gradients:
        """Sweep from each element of the target, or of its examples, to the sources."""
        if target.dtype.kind not in "fc":
            return {}
        nested = bool(recording_tapes())
        diagonals = seeds([target], None, nested)
        tracked, kept = self._goal(ids)
        basis = basis_of(target, by_example)
        if is_lazy(target._value):
            return self._rows_one_by_one(ids, target, basis)
        for tape in live():
            tape._sweep_begins(diagonals)
        try:
            return self._batched(ids, tracked, diagonals, kept, basis, nested)
        finally:
            for tape in live():
                tape._sweep_ends()

    def _batched(
        self,
        ids: set[int],
        tracked: Mapping[int, int],
        diagonals: Gradients,
        kept: set[int],
        basis: Basis,
        nested: bool,
    ) -> Gradients:
        """Sweep from all unit cotangents, and carefully if a gradient is nan."""
        records, begin, started = self._records[:], new_id(), dict(diagonals)
        grads, is_whole = batched_sweep(records, tracked, diagonals, ids, kept, basis, nested)

        if has_nan(grads, ids, records, started, self._nested_sweeps, is_whole):
            new, new_tracked, zeros = self._with_careful_sweeps(ids, records)
            careful = careful_batched_sweep(
                new, new_tracked, started, ids, kept, basis, nested, zeros
            )
            if tracer() is not None or agree(ids, grads, careful):
                grads = careful
        for tape in live() if nested else ():
            if tape._notes_sweeps and not tape._tracked.keys().isdisjoint(started):
                start = started, basis, kept
                note = begin, new_id(), records, tracked, ids, grads, start
                tape._nested_sweeps.append(note)
        return grads

    def _rows_one_by_one(self, ids: set[int], target: Traced, basis: Basis) -> Gradients:
        """Return the gradients of a lazy target by a separate sweep per unit cotangent, along a new first axis."""
        rows = [
            self._gradients(ids, [target], [unit])
            for unit in lazy_units(target, basis, self._records)
        ]
        if not rows:
            empty_target_grads = self._gradients(ids, [target], None)
            return {i: empty_target_grads[i][None][:0] for i in ids & empty_target_grads.keys()}
        return {i: np.stack([row[i] for row in rows]) for i in ids if any(i in row for row in rows)}

    def _goal(self, ids: set[int]) -> tuple[Mapping[int, int], set[int]]:
        """Return the ids that receive gradients in a sweep, and the ids of sources that are intermediate values."""
        tracked = self._tracked
        if self._rewatched is not None:
            mark_stopped(self._records, tracked, self._rewatched)
        if not ids >= self._leaves:
            tracked = reachable(self._records, tracked, ids)
        return tracked, ids - self._leaves

    def _require_rows_at_once(self, at_once: bool) -> None:
        if (
            not bool_option(at_once, "experimental_use_pfor")
            and not self._persistent
            and self._usable
        ):
            raise ConsumedTapeError(
                "GradientTape must be created with persistent=True to compute a Jacobian row by row: "
                "leave experimental_use_pfor out, or write GradientTape(persistent=True)"
            )


@contextmanager
def noting_sweeps(tape: Tape) -> Iterator[None]:
    """Note the sweeps that an observer records in this block, for careful sweeps through them.

    Observers don't otherwise: a long cell takes many gradients, and the notes would keep the records of all of them.
    """
    before = tape._notes_sweeps
    tape._notes_sweeps = True
    try:
        yield
    finally:
        tape._notes_sweeps = before
        if not before:
            tape._nested_sweeps.clear()


def take_spared(tape: Tape) -> AbstractSet[int]:
    """Return the ids of the sources whose gradients lost a nan in careful sweeps since the last call."""
    ids, tape._spared = tape._spared, frozenset()
    return ids


def tape_of(contents: Contents, careful: bool = True) -> Tape:
    """Create a persistent tape with given contents; it drops no records. For `careful`, see `careful_sweep`."""
    tape = Tape(persistent=True, watch_accessed_variables=False)
    tape._careful = careful
    tape._records += contents.records
    tape._tracked.update(contents.tracked)
    tape._leaves |= contents.leaves
    tape._cut = contents.cut
    tape._keeps = tape._warned = tape._entered = tape._usable = True
    return tape


def _require_one(x: Any, method: str, role: str) -> None:
    if not isinstance(x, Traced):
        several = " For several, call it once for each, on a persistent tape."
        how = several if isinstance(x, (list, tuple, Mapping)) else tensor_advice(x)
        raise NotATensorError(
            f"{method} takes one Tensor or Variable as its {role}, not {describe(x)}.{how}"
        )


def _require_batches(target: Traced, source: Traced) -> None:
    for role, x in (("target", target), ("source", source)):
        if x.ndim < 2:
            raise ShapeError(
                f"Shape {x.shape} must have rank at least 2: the first axis of batch_jacobian's {role} counts "
                "the examples; for a single one, use jacobian"
            )
    if target.shape[0] != source.shape[0]:
        raise ShapeError(
            f"Need first dimension of target shape {target.shape} and source shape {source.shape} to match: "
            "it counts the examples of the batch"
        )
