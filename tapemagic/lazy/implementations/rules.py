"""Derivative rules that look at numbers, such as those of decompositions: they run inside each chunk.

What the rule returns belongs to one chunk of the input. Where several chunks of the result depend on one of the input,
the gradients that they give are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import tokenize
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.engine.recording import Absent, silence
from tapemagic.engine.registry import Operation
from tapemagic.engine.tape.input_gradient import input_gradient
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.lazy.implementations.blocks import (
    MAX_TRIAL_SIZE,
    NEW,
    Labels,
    Slot,
    Task,
    dummy,
    extract_arrays,
    is_array,
    is_lazy,
    leading,
    lengths_of,
    merge_empty_chunks,
    require_one_chunk,
    right,
    unify_chunks,
    unique,
    without_fusion,
)
from tapemagic.lazy.implementations.reductions import reduce_in_tree
from tapemagic.lazy.implementations.shaping import astype
from tapemagic.lazy.implementations.table import implements

Labelled = tuple[list[Labels], list[Labels], list[Labels]]
"""The axis labels of each input, of each result, and of each array among the parameters."""

RULES: dict[str, Callable[..., Labelled]] = {}
"""For operations that do the same in every chunk, by name, the function that labels the axes of inputs and results."""


def labels_of(*names: str) -> Callable[[Callable[..., Labelled]], Callable[..., Labelled]]:
    """Register the decorated function as the one that labels the axes of the named operations."""

    def register(labelled: Callable[..., Labelled]) -> Callable[..., Labelled]:
        RULES.update(dict.fromkeys(names, labelled))
        return labelled

    return register


@labels_of("det", "slogdet", "inv", "pinv", "qr", "eigh", "eig", "svd", "matrix_power", "cholesky")
def _stacked(
    inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]
) -> Labelled:
    """Label stacks of matrices, and results in the same stacks."""
    stack = inputs[0].ndim - 2
    result_labels = [leading(y.ndim, y.ndim - stack) for y in results]
    input_labels = [leading(_axes(x), 0 if k else 2) for k, x in enumerate(inputs)]
    return input_labels, result_labels, [leading(x.ndim, 0) for x in param_arrays]


@labels_of("solve")
def _solve(inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]) -> Labelled:
    """Label stacks of matrices and right-hand sides; a 1-d right-hand side serves all matrices."""
    a, b = inputs
    core = min(_axes(b), 2)
    return [leading(a.ndim, 2), leading(_axes(b), core)], [leading(results[0].ndim, core)], []


@labels_of("quantile", "percentile", "nanquantile", "nanpercentile")
def _quantile(
    inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]
) -> Labelled:
    """Label the reduced axes None; the axes of the fractions come first in the result."""
    a, q, *weights = inputs
    axis = params.get("axis")
    core = tuple(
        k - a.ndim for k in normalize_axis_tuple(range(a.ndim) if axis is None else axis, a.ndim)
    )
    labels = right(a.ndim, core)
    remaining = (
        labels if params.get("keepdims") else tuple(name for name in labels if name is not None)
    )
    weight_labels = [labels if _axes(w) == a.ndim else (None,) * _axes(w) for w in weights]
    return [labels, (None,) * _axes(q), *weight_labels], [(*(None,) * _axes(q), *remaining)], []


@labels_of("interp")
def _interp(inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]) -> Labelled:
    """Label the points element-wise; each needs all knots."""
    x, *rest = inputs
    return [right(_axes(x)), *((None,) * _axes(knots) for knots in rest)], [right(_axes(x))], []


@labels_of("index", "take")
def _indexed(
    inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]
) -> Labelled:
    """Label a lazy index element-wise; each element needs all rows of the array."""
    (table,) = inputs
    if len(param_arrays) != 1 or params.get("axis") not in {None, 0} or is_lazy(table):
        return _in_one_chunk(inputs, results, params, param_arrays)
    labels = right(param_arrays[0].ndim)
    rest = (None,) * (results[0].ndim - len(labels))
    return [(None,) * table.ndim], [(*labels, *rest)], [labels]


@labels_of("take_along_axis")
def _taken(inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]) -> Labelled:
    """Label elements taken along an axis that is in one chunk."""
    a = inputs[0]
    axis = params.get("axis", -1)
    if axis is None or any(_axes(x) != a.ndim for x in (*inputs, *param_arrays)):
        return _in_one_chunk(inputs, results, params, param_arrays)
    labels = right(a.ndim, [k - a.ndim for k in normalize_axis_tuple(axis, a.ndim)])
    return [labels for _ in inputs], [labels], [labels for _ in param_arrays]


@labels_of("cumprod")
def _running(
    inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]
) -> Labelled:
    """Label running products along an axis that is in one chunk."""
    x, axis = inputs[0], params.get("axis")
    if axis is None:
        return _in_one_chunk(inputs, results, params, param_arrays)
    labels = right(x.ndim, [k - x.ndim for k in normalize_axis_tuple(axis, x.ndim)])
    return [labels], [labels], []


def _in_one_chunk(
    inputs: Any, results: Any, params: dict[str, Any], param_arrays: list[Any]
) -> Labelled:
    """Label no axis: everything must be in one chunk."""
    return (
        [(None,) * _axes(x) for x in inputs],
        [(None,) * y.ndim for y in results],
        [(None,) * x.ndim for x in param_arrays],
    )


def _shape(x: Any) -> tuple[int, ...]:
    """Return the shape of an array or number without np.shape, which would compute a Dask array."""
    return tuple(getattr(x, "shape", ()))


def _axes(x: Any) -> int:
    return len(_shape(x))


def gradient_in_chunks(
    operation: Operation, position: int, arguments: tuple[Any, ...], params: dict[str, Any]
) -> Any:
    """Compute the gradient of one input by running the rule in each chunk; a tensor if the arguments are tensors."""
    g, y, *inputs = arguments
    several = isinstance(g, tuple)
    flat_arguments = (*(g if several else (g,)), *(y if several else (y,)), *inputs)
    flat_arguments = tuple(_stand_in(x) if isinstance(x, Absent) else x for x in flat_arguments)
    joint = operation.joint_rule is not None
    options: dict[str, Any] = {
        "rule": operation.joint_rule if joint else operation.rules[position],
        "joint": joint,
        "position": position,
        "params": params,
        "results": len(g) if several else 0,
        "name": operation.name,
    }
    if operation.function is input_gradient and _is_constant(unwrap(flat_arguments), options):
        return None
    return input_gradient(*flat_arguments, **options)


def _is_constant(values: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Return True if a trial on dummy numbers shows that a rule returns None for an input."""
    parts = _labels(values, options)
    labels = [*parts.results, *parts.results, *parts.inputs]
    dummies = [
        dummy(
            tuple(n if name is None else 1 for n, name in zip(x.shape, names, strict=True)), x.dtype
        )
        if hasattr(x, "shape")
        else x
        for x, names in zip(values, labels, strict=True)
    ]
    if parts.options or sum(getattr(x, "size", 1) for x in dummies) > MAX_TRIAL_SIZE:
        return False
    rule = options["rule"]
    try:
        with silence(), np.errstate(all="ignore"):
            (gradient,) = rule(
                (options["position"],), dummies[0], dummies[1], *dummies[2:], **options["params"]
            )
    except Exception:  # noqa: BLE001 (the rule may refuse such numbers)
        return False
    return gradient is None


def _stand_in(x: Absent) -> Any:
    """Return zeros for an array that no rule reads."""
    return np.broadcast_to(x.dtype.type(0), x.shape)


class Parts(NamedTuple):
    """Axis labels of the arguments and of the result of `input_gradient`."""

    results: list[Labels]
    inputs: list[Labels]
    options: list[Labels]
    own: Labels


def _labels(values: Sequence[Any], options: dict[str, Any]) -> Parts:
    """Label the axes of the arguments and of the result of `input_gradient`."""
    count = options["results"] or 1
    results, inputs = values[count : 2 * count], values[2 * count :]
    params, name = options["params"], options["name"]
    if name == input_gradient.__name__:
        inner = _labels(inputs, params)
        input_labels = [*inner.results, *inner.results, *inner.inputs]
        return Parts([inner.own], input_labels, inner.options, input_labels[options["position"]])
    param_arrays: list[Any] = []
    extract_arrays(params, is_array, param_arrays)
    input_labels, result_labels, param_labels = RULES.get(name, _in_one_chunk)(
        inputs, results, params, param_arrays
    )
    return Parts(result_labels, input_labels, param_labels, input_labels[options["position"]])


@implements(input_gradient)
def in_chunks(*values: Any, **options: Any) -> Any:
    """Implement `input_gradient`: run the rule in each chunk."""
    parts = _labels(values, options)
    count = options["results"] or 1
    inputs = values[2 * count :]
    for array, names in zip(inputs, parts.inputs, strict=True):
        require_one_chunk("its rule", array, names)
    # A result of more than twice the size of the largest input is refused, not gathered into one chunk.
    max_size = 2 * max([getattr(array, "size", 1) for array in inputs], default=0)
    results = [
        _merge_core_chunks(array, names, max_size)
        for array, names in zip(values[: 2 * count], [*parts.results, *parts.results], strict=True)
    ]
    arrays: list[Any] = []
    args = extract_arrays((*results, *inputs), is_array, arrays)
    argument_labels = [*parts.results, *parts.results, *parts.inputs]
    labels = [names for x, names in zip(args, argument_labels, strict=True) if type(x) is Slot]
    kwargs = extract_arrays(options, is_array, arrays)
    labels += parts.options
    lengths = lengths_of(arrays, labels)
    short = {name for name, n in lengths.items() if n == 1}
    labels = [tuple(None if name in short else name for name in names) for names in labels]
    for array, names in zip(arrays[len(arrays) - len(parts.options) :], parts.options, strict=True):
        require_one_chunk("its rule", array, names)
    arrays = [merge_empty_chunks(x, names) for x, names in zip(arrays, labels, strict=True)]
    x = inputs[options["position"]]
    own = tuple(
        None if name in short or n == 1 else name
        for name, n in zip(parts.own, _shape(x), strict=True)
    )
    missing = sorted({name for names in labels for name in names if name is not None} - {*own})
    return _sum_over_chunks(
        Task(_summand, args, kwargs | {"axes": len(missing)}), arrays, labels, own, x, missing
    )


def _merge_core_chunks(y: Any, names: Labels, max_size: int) -> Any:
    """Rechunk a result, or its gradient, to one chunk along unlabelled axes, unless it is large."""
    if not is_lazy(y):
        return y
    if y.size > max_size:
        require_one_chunk("its rule", y, names)
    return y.rechunk({axis: -1 for axis, name in enumerate(names) if name is None})


def _summand(*values: Any, axes: int, **options: Any) -> Any:
    """Compute the share of a gradient that comes from one chunk, with leading axes of length 1."""
    with silence():
        return unwrap(input_gradient(*values, **options))[(None,) * axes]


def _sum_over_chunks(
    task: Task,
    arrays: list[Any],
    labels: list[Labels],
    own: Labels,
    x: Any,
    missing: list[Any],
) -> Any:
    """Sum the shares of the chunks over the labels that the input does not have."""
    arrays = unify_chunks(arrays, labels)
    pairs = [
        part
        for array, names in zip(arrays, unique(labels), strict=True)
        for part in (array, names if is_lazy(array) else None)
    ]
    new = {NEW + k: n for k, n in enumerate(_shape(x)) if own[k] is None}
    index = (*missing, *(NEW + k if name is None else name for k, name in enumerate(own)))
    token = tokenize(
        task.args,
        task.kwargs,
        [array.name if is_lazy(array) else array for array in arrays],
        labels,
    )
    summands = da.blockwise(
        task,
        index,
        *pairs,
        name=f"gradient-{token}",
        new_axes=new,
        adjust_chunks=dict.fromkeys(missing, 1),
        concatenate=True,
        dtype=x.dtype,
        meta=np.empty((0,) * len(index), x.dtype),
    )
    gradient = without_fusion(summands, new)
    if not missing:
        return gradient
    # As the engine sums gradients over broadcast axes: in double precision, rounded once at the end.
    wide = np.result_type(x.dtype, np.float64)
    return astype(
        reduce_in_tree(np.add, gradient, tuple(range(len(missing))), False, wide), x.dtype
    )
