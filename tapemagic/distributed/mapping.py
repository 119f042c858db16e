"""map_blocks: a function applied to each block of lazy tensors."""

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
        ``f(*blocks)`` gives one tensor or array. It is given a tensor for each argument: a block of a lazy one, and
        the whole value of one in memory.
    *args : Tensor, Dask array, Variable, array or number
        At least one of them lazy. Lazy ones have to be cut alike along the axes that they share, counted from the last
        one as for broadcasting, or be in one piece there.
    dtype : dtype, optional
        That of the result. Without it, `f` is tried once on small blocks of ones.
    chunks : tuple of (int or tuple of int), optional
        For each axis of the result the lengths of its blocks, or the one length of all, where they differ from those of
        the arguments.
    drop_axis : int or sequence of int, optional
        Axes of the arguments that the result lacks, each in one block.
    new_axis : int or sequence of int, optional
        Axes of the result that the arguments lack, of length 1 unless `chunks` says otherwise.

    Returns
    -------
    Tensor
        A lazy one.

    Raises
    ------
    FunctionError
        If `f` cannot be called, or cannot be pickled with what it refers to.
    NotNumbersError
        If an argument is no array of numbers.
    OptionError
        If no argument is lazy, `dtype` is left out and `f` fails on blocks of ones, or `drop_axis`, `new_axis` or
        `chunks` do not fit.
    ShapeError
        If the arguments are cut differently. When computed, if `f` returns a block of another shape.
    UnsupportedArgumentError
        If `f` reads a variable that a tape would watch. When computed, if it reads one of an imported module.

    Notes
    -----
    This is the way out where Dask has no function of a name, or where a row has to be seen in one piece. `f` is pickled
    by cloudpickle when this is called: variables, and all else that it refers to, have the values of that moment.

    The gradient is computed by a tape on each block, which calls `f` again; that of an argument in memory is the sum
    over all blocks. It can be differentiated again. An argument that `f` does not use has a gradient of zeros.

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
    from tapemagic.distributed.block_layout import planned

    return planned(f, args, dtype, chunks, drop_axis, new_axis)
