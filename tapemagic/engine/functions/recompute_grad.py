"""recompute_grad: computing again rather than keeping."""

from __future__ import annotations

from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.functions.arguments import fresh, name_of
from tapemagic.engine.functions.pullback import Call, outputs_of, record_call
from tapemagic.engine.nest import leaves, pack, require_function
from tapemagic.engine.recording import silence, tick
from tapemagic.engine.registry import Function
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.engine.tensor.variable_reads import captured_by, recorded_reads, restored
from tapemagic.errors import FunctionError

F = TypeVar("F", bound=Function)


def recompute_grad(function: F) -> F:
    """Compute a function again when it is differentiated, rather than keep what it computed on the way.

    Parameters
    ----------
    function : callable
        Of tensors, structures of them, and anything else; it may read variables. It must give the same result when
        it is called again, with the values that arguments and variables had when they were first read.

    Returns
    -------
    callable
        Trades time for memory: of its operations the tape keeps the arguments and the results alone.

    Notes
    -----
    While it computes again, the variables that it read have their earlier values, for other threads too.

    Gradient checkpointing: Griewank and Walther, "Revolve", ACM Transactions on Mathematical Software 26 (2000).

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> @tm.recompute_grad
    ... def block(x):
    ...     return np.sin(np.sin(np.sin(x)))
    >>> x = tm.Variable(1.0)
    >>> with tm.Tape() as tape:
    ...     y = block(x)
    >>> tape.gradient(y, x)
    Tensor(0.26450827)
    """
    require_function(function)

    @wraps(function)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        name = name_of(function)
        with silence(), recorded_reads() as reads:
            result = function(*args, **kwargs)
        given = leaves((args, kwargs))
        inputs = [x for x in given if isinstance(x, Traced)]
        computed = outputs_of(name, result)
        shapes = [y.shape for y in computed if y.dtype.kind in "fc"]
        captured = captured_by(reads, [])
        held = list(map(_as_it_is, given))

        def pullback(upstream: list[Tensor]) -> list[Any]:
            again = [fresh(x) if isinstance(x, Traced) else x for x in held]
            sources = [x for x in again if isinstance(x, Traced)]
            with Tape() as tape, restored(reads):
                tape.watch([x for x in sources if x.dtype.kind in "fc"])
                args_again, kwargs_again = pack((args, kwargs), again)
                outputs = outputs_of(name, function(*args_again, **kwargs_again))
            smooth = [y for y in outputs if y.dtype.kind in "fc"]
            _require_same(name, shapes, [y.shape for y in smooth])
            return leaves(tape.gradient(smooth, [*sources, *captured], upstream, "zero"))

        results = record_call(Call(name, pullback, tick()), [*inputs, *captured], computed)
        return pack(result, results)

    return recomputed  # type: ignore[return-value]


def _require_same(name: str, shapes: list[Any], again: list[Any]) -> None:
    if shapes != again:
        raise FunctionError(
            f"{name} returned shapes {shapes}, and {again} when it was computed again for its gradient: what "
            "recompute_grad computes twice has to depend on its arguments and on variables alone"
        )


def _as_it_is(x: Any) -> Any:
    """An argument, safe from later changes."""
    if isinstance(x, Traced):
        return x._read()
    return x.copy() if isinstance(x, np.ndarray) else x
