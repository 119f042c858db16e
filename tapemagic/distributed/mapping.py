"""map_blocks: apply a function to each block of lazy tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapemagic.engine.tensor.messages import require_function


def map_blocks(
    f: Callable[..., Any],
    *args: Any,
    dtype: Any = None,
    chunks: Sequence[Any] | None = None,
    drop_axis: int | Sequence[int] = (),
    new_axis: int | Sequence[int] = (),
) -> Any:
    """Apply a function to each block of lazy tensors, as an operation that tapes record.

    Parameters
    ----------
    f : callable
        ``f(*blocks)`` returns one tensor or array. It receives a tensor for each argument: a block of a lazy argument,
        and the whole value of an argument in memory.
    *args : Tensor, Dask array, Variable, array or number
        At least one must be lazy. Lazy arguments must be cut in the same way along shared axes, counted from the last
        axis as for broadcasting, or be in one piece there.
    dtype : dtype, optional
        The dtype of the result. By default, `f` is tried once on small blocks of ones.
    chunks : tuple of (int or tuple of int), optional
        For each axis of the result the lengths of its blocks, or one length for all, if they differ from those of the
        arguments.
    drop_axis : int or sequence of int, optional
        Axes of the arguments that the result lacks, each in one block.
    new_axis : int or sequence of int, optional
        Axes of the result that the arguments lack, of length 1 unless `chunks` says otherwise.

    Returns
    -------
    Tensor
        A lazy tensor.

    Raises
    ------
    FunctionError
        If `f` can't be called, or can't be pickled with everything that it refers to.
    NotNumbersError
        If an argument isn't numeric.
    OptionError
        If no argument is lazy, `f` fails on blocks of ones and there is no `dtype`, or `drop_axis`, `new_axis` or
        `chunks` don't fit.
    ShapeError
        If the arguments are cut differently. During computation, if `f` returns a block of an unexpected shape.
    UnsupportedArgumentError
        If `f` reads a variable that a tape would watch. During computation, if it reads one of an imported module.

    Notes
    -----
    Use this for functions that Dask doesn't have, or that need a whole row at once. `f` is pickled by cloudpickle in
    this call, so variables and everything else that it refers to have their current values.

    A tape on each block computes the gradient, and calls `f` again. The gradient of an argument in memory is the sum
    over all blocks. Higher derivatives work. An argument that `f` doesn't use has a gradient of zeros.

    Examples
    --------
    >>> import dask.array as da, numpy as np, tapemagic as tm
    >>> x = tm.constant(da.arange(6.0, chunks=4))
    >>> w = tm.Variable(2.0)
    >>> with tm.GradientTape() as tape:
    ...     y = tm.distributed.map_blocks(lambda x, w: np.sin(w * x), x, w)
    ...     loss = np.sum(y)
    >>> y
    Tensor(dask.array<shape=(6,), dtype=float64, chunksize=(4,)>)
    >>> tape.gradient(loss, w).compute()
    Tensor(-3.620281)
    """
    require_function(f)
    from tapemagic.distributed.block_layout import plan_blocks

    return plan_blocks(f, args, dtype, chunks, drop_axis, new_axis)
