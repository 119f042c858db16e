"""value_and_grad: a loss and its gradient over the partitions of data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapemagic.engine.events import record_exit
from tapemagic.engine.functions.arguments import name_of
from tapemagic.engine.functions.grad import is_array, source_of
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.coercion import bool_option
from tapemagic.engine.tensor.messages import require_function, shown
from tapemagic.engine.tensor.tensor import Traced, computed
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
    """The loss over all partitions of data, and its gradient, each computed where the partition is.

    Parameters
    ----------
    loss : callable
        ``loss(params, part)`` gives one number for the rows of a partition. It is given tensors for the chunks of
        arrays, lists of records for a bag, and pandas' tables for a DataFrame. A tuple of data, or a tuple that a
        delayed object gives, is spread over the arguments, ``loss(params, x, y)``, and a dict over keyword arguments.
    data : Dask array, bag, DataFrame or Series, or list of delayed objects
        Cut along the first axis alone, the rows. Several that are cut alike are given in a tuple, list or dict.
        Partitions may have different numbers of rows; those without rows are skipped.
    reduce : {'mean', 'sum'}, optional
        Of the losses of the partitions: their mean, weighted by the number of rows, which is right for a loss that
        is the mean over its rows; or their sum, for one that is the sum over its rows.
    split_every : int, optional
        The number of results that one task adds up.
    progress : bool, optional
        Show Dask's own progress bar.

    Returns
    -------
    callable
        ``loss_and_gradient(params)`` computes once, by Dask's current scheduler, and gives a pair of tensors in
        memory: the loss, and the gradient in the structure of `params`, which are tensors, variables, arrays or
        numbers, or nested lists, tuples or dicts of them, such as ``model.trainable_variables``. As from a tape, the
        gradient of a parameter that the loss does not depend on in any partition is None.

    Raises
    ------
    FunctionError
        If `loss` cannot be called. When called, if it returns None.
    NotATensorError
        When called, if the loss returns no tensor, or a parameter holds no real or complex numbers.
    NotNumbersError
        If an array holds no numbers.
    OptionError
        If `reduce` or `split_every` is none of these, or there are no data. When called, if there are no parameters.
    ShapeError
        If the data are cut differently, or along another axis than the rows. When called, if the loss returns more
        than one number, or there are no rows.
    UnsupportedArgumentError
        If the data are no collection of Dask's. When called, if a parameter is not computed yet, or if the loss reads
        a variable of an imported module in another process.

    Notes
    -----
    For losses that are sums or means over rows alone; others, such as the root of a mean, need
    ``tapemagic.constant(dask_array)`` under an ordinary tape, as do gradients with respect to data and second
    derivatives. The results are constants to a tape around the call. A variable that stands at several places among
    the parameters has its whole gradient at each of them.

    Other processes are sent the loss with its parameters once for each call, pickled by cloudpickle: variables, and all
    else that it refers to, have the values that they have at the call, and what it changes there is lost. An error of
    the loss is raised with a note that names the partition. Nothing stays on the workers.

    This is the data-parallel gradient of Dean and Ghemawat's "MapReduce", OSDI (2004), and of Chu et al., "Map-Reduce
    for Machine Learning on Multicore", NIPS (2006).

    Examples
    --------
    >>> import dask.array as da, numpy as np, tapemagic as tm
    >>> x = da.arange(1000.0, chunks=300)
    >>> y = 3 * x
    >>> loss = lambda w, x, y: np.mean((w * x - y) ** 2)
    >>> tm.distributed.value_and_grad(loss, (x, y))(2.0)
    (Tensor(332833.5), Tensor(-665667.0))
    """
    from tapemagic.distributed.computing import compute
    from tapemagic.distributed.partitions import Partitions
    from tapemagic.distributed.task import Problem

    require_function(loss)
    if reduce not in {"mean", "sum"}:
        raise OptionError(
            f"reduce is 'mean' or 'sum', not {shown(reduce)}: other losses need the whole data, as Dask arrays under "
            "an ordinary tape have them, x = tapemagic.constant(dask_array)"
        )
    if type(split_every) is not int or split_every < 2:
        raise OptionError(f"split_every is a whole number from 2 on, not {shown(split_every)}")
    progress = bool_option(progress, "progress")
    partitions = Partitions(data)

    def loss_and_gradient(params: Any) -> tuple[Any, Any]:
        """The loss over all data, and its gradient in the structure of `params`."""
        values = leaves(params, is_leaf=is_array)
        if not leaves(params):
            raise OptionError(
                "there are no parameters: give tensors, variables or arrays; a model has its trainable_variables once "
                "it is built"
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
        gradients = [None if g is None else computed(g) for g in total.gradients]
        return computed(total.loss), pack(structure, gradients)

    loss_and_gradient.__name__ = loss_and_gradient.__qualname__ = name_of(loss)
    return loss_and_gradient


def _source(x: Any, loss: Callable[..., Any]) -> Any:
    """A parameter as it is sent to workers: a variable, or an array."""
    if is_lazy(getattr(x, "_value", x)):
        raise UnsupportedArgumentError(
            f"a parameter of {name_of(loss)} is not computed, and parameters are in memory: write x.compute(). For "
            "a gradient with respect to data, let an ordinary tape watch them: x = tapemagic.constant(dask_array), "
            "tape.watch(x)"
        )
    tensor = source_of(x, loss, 0)
    return x if isinstance(x, Variable) else tensor._value
