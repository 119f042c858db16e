"""recompute_grad: gradient checkpointing, which trades computation for memory."""

from __future__ import annotations

from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.functions.arguments import name_of, new_tensor
from tapemagic.engine.functions.pullback import Call, outputs_of, record_call
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import silence, tick
from tapemagic.engine.registry import Function
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.messages import require_function
from tapemagic.engine.tensor.tensor import Tensor, Traced, unwrap
from tapemagic.engine.tensor.variable_reads import captured_by, recorded_reads, restored
from tapemagic.engine.tracing import numbers, repeated
from tapemagic.errors import FunctionError

F = TypeVar("F", bound=Function)


def recompute_grad(function: F) -> F:
    """Compute a function again when it is differentiated, so that the tape keeps no intermediate values.

    Raises FunctionError when differentiated, if the second call returns a different result, for example because the
    function draws random numbers.

    Parameters
    ----------
    function : callable
        A function of tensors, structures of tensors and other objects, which may read variables. Called again with
        the arguments and the variables' values of the first call, it must return the same result.

    Returns
    -------
    callable
        The decorated function. A tape keeps only its arguments and results.

    Notes
    -----
    Side effects of the function, such as updates of the moving averages of a batch normalization, happen twice.
    During the second computation, the variables that it read have their earlier values, also in other threads.

    Gradient checkpointing: Griewank and Walther, "Revolve", ACM Transactions on Mathematical Software 26 (2000).

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> @tm.recompute_grad
    ... def block(x):
    ...     return np.sin(np.sin(np.sin(x)))
    >>> x = tm.Variable(1.0)
    >>> with tm.GradientTape() as tape:
    ...     y = block(x)
    >>> tape.gradient(y, x)
    Tensor(0.26450827)
    """
    require_function(function)

    @wraps(function)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        name = name_of(function)
        # Nothing inside is recorded: that is what saves the memory. Reads of variables are, because
        # they are sources.
        with silence(), recorded_reads() as reads:
            result = function(*args, **kwargs)
        arguments = leaves((args, kwargs))
        inputs = [x for x in arguments if isinstance(x, Traced)]
        computed = outputs_of(name, result)
        first = [unwrap(y) for y in computed if y.dtype.kind in "fc"]
        captured = captured_by(reads, [])
        frozen = list(map(_frozen_argument, arguments))

        def pullback(upstream: list[Tensor]) -> list[Any]:
            again = [new_tensor(x) if isinstance(x, Traced) else x for x in frozen]
            sources = [x for x in again if isinstance(x, Traced)]
            with Tape() as tape, restored(reads), repeated():
                tape.watch([x for x in sources if x.dtype.kind in "fc"])
                args_again, kwargs_again = pack((args, kwargs), again)
                outputs = outputs_of(name, function(*args_again, **kwargs_again))
            differentiable = [y for y in outputs if y.dtype.kind in "fc"]
            again_computed = [unwrap(y) for y in differentiable]
            _require_same(name, numbers(first), numbers(again_computed))
            return leaves(tape.gradient(differentiable, [*sources, *captured], upstream, "zero"))

        results = record_call(Call(name, pullback, tick()), [*inputs, *captured], computed)
        return pack(result, results)

    return recomputed  # type: ignore[return-value]


def _require_same(name: str, first: list[Any], again: list[Any]) -> None:
    """Raise an error unless both computations returned the same values, up to rounding."""
    shapes, shapes_again = ([y.shape for y in values] for values in (first, again))
    if shapes != shapes_again:
        raise FunctionError(
            f"{name} returned shapes {shapes}, and {shapes_again} when it was computed again for its gradient: {_TWICE}"
        )
    for before, after in zip(first, again, strict=True):
        if is_lazy(before) or is_lazy(after):
            _require_same_graph(name, before, after)
            continue
        # Sums may be taken in another order, for example by another number of threads, so the results aren't compared
        # bit by bit. Other random numbers differ by much more than 1 percent of the largest value.
        scale = np.max(np.abs(before), initial=0, where=np.isfinite(before))
        close = np.isclose(after, before, rtol=0.01, atol=0.01 * float(scale), equal_nan=True)
        if not np.all(close):
            at = tuple(np.argwhere(~close)[0].tolist())
            raise FunctionError(
                f"{name} returned {before[at]}, and {after[at]} when it was computed again for its gradient: {_TWICE}, "
                "so draw random numbers, such as those of dropout, before the call, and pass them to it"
            )


def _require_same_graph(name: str, before: Any, after: Any) -> None:
    """Raise an error unless two lazy results have the same graph, because their numbers aren't known."""
    if type(before) is not type(after) or before.name != after.name:
        raise FunctionError(
            f"{name} returned a different Dask array when it was called again for its gradient: {_TWICE}, and "
            "random numbers need a seed"
        )


_TWICE = "a function under recompute_grad must depend only on its arguments and on variables"


def _frozen_argument(x: Any) -> Any:
    """Return an argument that later changes don't affect: the current value of a variable, or a copy of an array."""
    if isinstance(x, Traced):
        return x._read()
    return x.copy() if isinstance(x, np.ndarray) else x
