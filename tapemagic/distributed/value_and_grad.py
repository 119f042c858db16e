"""value_and_grad: a loss and its gradient over partitioned data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapemagic.engine.events import record_exit
from tapemagic.engine.functions.arguments import name_of
from tapemagic.engine.functions.grad import is_array, plain_copy, source_of
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.coercion import bool_option
from tapemagic.engine.tensor.messages import require_function, shown
from tapemagic.engine.tensor.tensor import Traced, computed, tensors_in
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError


def value_and_grad(
    loss: Callable[..., Any],
    data: Any,
    reduce: str = "mean",
    *,
    split_every: int = 8,
    progress: bool = False,
) -> Callable[[Any], tuple[Any, Any]]:
    """Return a function that computes a loss and its gradient over all partitions, each where its data is.

    Parameters
    ----------
    loss : callable
        ``loss(params, part)`` returns one number for the rows of a partition. It receives tensors for chunks of
        arrays, lists of records for a bag, and pandas tables for a DataFrame. A tuple of data, or a tuple from a
        delayed object, is passed as several arguments, ``loss(params, x, y)``, and a dict as keyword arguments.
    data : Dask array, bag, DataFrame or Series, or list of delayed objects
        Cut only along the first axis, the rows. Several collections that are cut in the same way are passed in a tuple,
        list or dict. Partitions may have different numbers of rows; those without rows are skipped.
    reduce : {'mean', 'sum'}, optional
        "mean" averages the losses of the partitions, weighted by their numbers of rows, for a loss that is a mean over
        its rows; "sum" adds them, for a loss that is a sum over its rows.
    split_every : int, optional
        The number of results that one task adds.
    progress : bool, optional
        Show Dask's progress bar.

    Returns
    -------
    callable
        ``loss_and_gradient(params)`` computes once, by Dask's current scheduler, and returns a pair in memory: the
        loss, and the gradient in the structure of `params`, which are tensors, variables, arrays or numbers, or nested
        lists, tuples or dicts of these, such as ``model.trainable_variables``. Both are tensors if a tensor or variable
        is among the parameters; otherwise they are plain arrays and numbers, as from `tapemagic.grad`. As from a tape,
        the gradient of a parameter is None if the loss doesn't depend on it in any partition.

    Raises
    ------
    FunctionError
        If `loss` can't be called. In a call, if it returns None.
    NotATensorError
        In a call, if the loss doesn't return a tensor, or a parameter isn't numeric.
    NotNumbersError
        If an array isn't numeric.
    OptionError
        If `reduce` or `split_every` has another value, or there is no data. In a call, if there are no parameters.
    ShapeError
        If the data is cut differently, or along other axes than the rows. In a call, if the loss returns more than one
        number, or there are no rows.
    UnsupportedArgumentError
        If the data isn't a Dask collection. In a call, if a parameter isn't computed yet, or the loss reads a variable
        of an imported module in another process.

    Notes
    -----
    Only for losses that are sums or means over rows. Other losses, such as the root of a mean, need
    ``tapemagic.constant(dask_array)`` under an ordinary tape, and so do gradients with respect to data and second
    derivatives. The results are constants to a tape around the call. A variable that occurs several times among the
    parameters has its whole gradient at each occurrence.

    Other processes receive the loss with its parameters once per call, pickled by cloudpickle: everything that it
    refers to has its value at the time of the call, and changes there are lost. An error of the loss is raised with a
    note that names the partition. Nothing stays on the workers.

    This is the data-parallel gradient of Dean and Ghemawat's "MapReduce", OSDI (2004), and of Chu et al., "Map-Reduce
    for Machine Learning on Multicore", NIPS (2006).

    Examples
    --------
    >>> import dask.array as da, numpy as np, tapemagic as tm
    >>> x = da.arange(4.0, chunks=2)
    >>> y = 3 * x
    >>> loss = lambda w, x, y: np.mean((w * x - y) ** 2)
    >>> tm.distributed.value_and_grad(loss, (x, y))(2.0)
    (np.float64(3.5), np.float64(-7.0))
    """
    # Imported here, so that `tapemagic.distributed` can be imported without Dask.
    from tapemagic.distributed.computing import compute
    from tapemagic.distributed.partitions import Partitions
    from tapemagic.distributed.task import Problem

    require_function(loss)
    if reduce not in {"mean", "sum"}:
        raise OptionError(
            f"reduce must be 'mean' or 'sum', not {shown(reduce)}: other losses need all data at once, as Dask arrays "
            "under an ordinary tape, x = tapemagic.constant(dask_array)"
        )
    if type(split_every) is not int or split_every < 2:
        raise OptionError(f"split_every must be an integer of at least 2, not {shown(split_every)}")
    progress = bool_option(progress, "progress")
    partitions = Partitions(data)

    def loss_and_gradient(params: Any) -> tuple[Any, Any]:
        """Compute the loss over all data, and its gradient in the structure of `params`."""
        values = leaves(params, is_leaf=is_array)
        if not leaves(params):
            raise OptionError(
                "there are no parameters: pass tensors, variables or arrays; a model has its trainable_variables after "
                "it's built"
            )
        with silence():
            sources = [_source(x, loss) for x in values]
        for x in values:
            if isinstance(x, Traced):
                record_exit(x, "tapemagic.distributed.value_and_grad()")
        structure = pack(params, [None] * len(values), is_array)
        problem = Problem(loss, structure, sources, reduce, partitions.count)
        with silence():
            total = compute(problem, partitions, split_every, progress)
        if total is None:
            raise ShapeError("all partitions are empty: there are no rows to compute the loss of")
        to_result = computed if tensors_in([params]) else plain_copy
        gradients = [None if g is None else to_result(g) for g in total.gradients]
        return to_result(total.loss), pack(structure, gradients)

    loss_and_gradient.__name__ = loss_and_gradient.__qualname__ = name_of(loss)
    return loss_and_gradient


def _source(x: Any, loss: Callable[..., Any]) -> Any:
    """Return a parameter in the form that is sent to workers: a variable, or an array."""
    if is_lazy(getattr(x, "_value", x)):
        raise UnsupportedArgumentError(
            f"a parameter of {name_of(loss)} isn't computed, but parameters must be in memory: write x.compute(). For "
            "a gradient with respect to data, let an ordinary tape watch it: x = tapemagic.constant(dask_array), "
            "tape.watch(x)"
        )
    tensor = source_of(x, loss, 0)
    return x if isinstance(x, Variable) else tensor._value
