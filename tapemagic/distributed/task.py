"""The work of one task: the loss and its gradient on one partition, and sums of such results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from tapemagic.distributed.sending import (
    Arrival,
    only_sent_variables,
    pickled,
    this_process,
    unpickled,
)
from tapemagic.engine.functions.arguments import checked_result, checked_tensor, name_of
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import pack
from tapemagic.engine.recording import silence
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.coercion import NUMBERS, require_plain
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Tensor, plain, wrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import FunctionError, ShapeError, UnsupportedArgumentError

CALLED = "was called on partition"
"""A part of the note on errors of the loss, by which they are recognized."""


class Partial(NamedTuple):
    """Rows, loss and gradients (one per parameter, or None) of one or several partitions."""

    rows: int
    loss: Any
    gradients: list[Any]


class Problem:
    """A loss with its parameters, pickled together so that both share their variables.

    Parameters
    ----------
    loss : callable
    structure : structure of None
        The structure of the parameters.
    leaves : list of (numpy.ndarray, numpy.generic or Variable)
        The parameters.
    reduce : {'mean', 'sum'}
    count : int
        The number of partitions.
    """

    def __init__(
        self,
        loss: Callable[..., Any],
        structure: Any,
        leaves: list[Any],
        reduce: str,
        count: int,
    ) -> None:
        self.loss = loss
        self.structure = structure
        self.leaves = leaves
        self.reduce = reduce
        self.count = count
        self.arrival: Arrival | None = None

    def partial(self, number: int, part: Any) -> Partial | None:
        """Return the loss and its gradient on the partition with a number, or None if it has no rows."""
        try:
            return self._partial(part)
        except Exception as error:
            error.add_note(
                f"{name_of(self.loss)} {CALLED} {number} of {self.count}, counted from 0."
            )
            raise

    def _partial(self, part: Any) -> Partial | None:
        rows = self._rows(part)
        if not rows:
            return None
        args, kwargs = spread(part)
        sources = [x if isinstance(x, Variable) else wrap(x) for x in self.leaves]
        with silence():
            with only_sent_variables(self.loss, self.arrival), Tape() as tape:
                tape.watch(sources)
                params = pack(self.structure, sources)
                loss = self._scalar(self.loss(params, *args, **kwargs))
            gradients = tape.gradient(loss, sources)
        return Partial(rows, loss._value, [g if g is None else g._value for g in gradients])

    def _scalar(self, loss: Any) -> Tensor:
        loss = checked_tensor(self.loss, checked_result(self.loss, loss))
        if loss.shape != ():
            raise ShapeError(
                f"{name_of(self.loss)} returned shape {loss.shape}, but a loss is one number: return "
                f"np.{self.reduce}(...) over the rows of the partition"
            )
        if is_lazy(loss._value):
            raise UnsupportedArgumentError(
                f"{name_of(self.loss)} returned a lazy tensor, because it reads a Dask array itself: pass all data to "
                "value_and_grad, as a tuple"
            )
        return plain(loss)

    def _rows(self, part: Any) -> int:
        """Return the number of rows of a partition; 1 for data without a length if results are summed."""
        parts = list(part.values()) if isinstance(part, dict) else part
        counts = {_length(x) for x in (parts if isinstance(parts, tuple | list) else [parts])}
        if not isinstance(part, tuple | dict):
            counts = {_length(part)}
        if len(counts) > 1:
            raise ShapeError(
                f"the parts of the data have {sorted(map(str, counts))} rows here: cut them into equal numbers of rows"
            )
        rows = next(iter(counts), 0)
        if rows is None and self.reduce == "mean":
            raise FunctionError(
                f"{describe(part)} has no number of rows, which reduce='mean' needs as the weight of its loss: return "
                "an array, a list or a table from the delayed function, or write reduce='sum'"
            )
        return 1 if rows is None else rows

    def combined(self, partials: Sequence[Partial | None]) -> Partial | None:
        """Return the sum of results, or their mean weighted by rows, or None without results."""
        present = [x for x in partials if x is not None]
        if len(present) < 2:
            return present[0] if present else None
        rows = sum(x.rows for x in present)
        # The weighted mean of means is the mean over all rows, also for partitions of different sizes.
        weights = [x.rows / rows if self.reduce == "mean" else None for x in present]
        columns = zip(*[x.gradients for x in present], strict=True)
        return Partial(
            rows,
            _summed([x.loss for x in present], weights),
            [_summed(column, weights) for column in columns],
        )


class SentProblem:
    """A problem that tasks receive, which stays pickled in other processes until its first use.

    - `home`: The identity of the sending process.
    - `content`: The pickled problem, instead of `problem`.
    """

    def __init__(
        self, problem: Problem | None, home: tuple[str, int] | None = None, content: bytes = b""
    ) -> None:
        self._problem = problem
        self._home = home or this_process()
        self._content = content
        self._lock = Lock()

    @property
    def content(self) -> bytes:
        """The pickled problem."""
        if not self._content and self._problem is not None:
            self._content = pickled(self._problem.loss, self._problem)
        return self._content

    @property
    def problem(self) -> Problem:
        """The problem, unpickled at the first access."""
        with self._lock:
            if self._problem is None:
                self._problem, arrival = unpickled(self._content)
                # In the home process, variables of imported modules are the right ones.
                self._problem.arrival = arrival if this_process() != self._home else None
        return self._problem

    def partial(self, number: int, part: Any) -> Partial | None:
        """Return the loss and its gradient on the partition with a number, or None if it has no rows."""
        return self.problem.partial(number, part)

    def combined(self, partials: Sequence[Partial | None]) -> Partial | None:
        """Return the sum of results, or their mean weighted by rows, or None without results."""
        return self.problem.combined(partials)

    def __reduce__(self) -> Any:
        return SentProblem, (None, self._home, self.content)


def _length(part: Any) -> int | None:
    shape = getattr(part, "shape", None)
    if shape:
        return int(shape[0])
    return len(part) if hasattr(part, "__len__") and shape is None else None


def spread(part: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments and keyword arguments of a loss for a partition, from a tuple or a dict."""
    if isinstance(part, dict):
        return (), {name: tensor_of(x) for name, x in part.items()}
    return tuple(map(tensor_of, part if isinstance(part, tuple) else (part,))), {}


def tensor_of(part: Any) -> Any:
    """Return a numeric array as a tensor that shares its memory, and anything else unchanged."""
    if not isinstance(part, np.ndarray):
        return wrap(part) if isinstance(part, np.number) else part
    require_plain(type(part))
    if part.dtype.kind not in NUMBERS:
        return part
    # A read-only view: the data may be shared with other tasks, and copying each chunk would double its memory.
    view = part.view()
    view.flags.writeable = False
    return wrap(view)


def _summed(values: Sequence[Any], weights: Sequence[float | None]) -> Any:
    """Return the weighted sum of the arrays, where None counts as 0, or None if there are no arrays."""
    total = None
    for value, weight in zip(values, weights, strict=True):
        if value is None:
            continue
        term = value if weight is None else value * weight
        if total is None:
            # A copy, since it's added to in place: the gradient may be shared with Dask's cache.
            total = np.array(term) if weight is None else term
        else:
            total += term
    return total if total is None or total.ndim else total[()]
