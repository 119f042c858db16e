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
    NEW,
    TRIAL,
    Labels,
    Slot,
    Task,
    apart,
    cut_alike,
    dummy,
    is_array,
    is_lazy,
    leading,
    lengths_of,
    require_whole,
    right,
    taken_out,
    unique,
    whole_if_empty,
)
from tapemagic.lazy.implementations.reductions import folded
from tapemagic.lazy.implementations.shaping import astype
from tapemagic.lazy.implementations.table import way

Labelled = tuple[list[Labels], list[Labels], list[Labels]]
"""The labels of the axes of each input, of each result, and of each array among the parameters."""

RULES: dict[str, Callable[..., Labelled]] = {}
"""For operations that do the same in every chunk, by their names, what labels the axes of inputs and results."""


def labels_of(*names: str) -> Callable[[Callable[..., Labelled]], Callable[..., Labelled]]:
    """Decorate what labels the axes for the operations of some names."""

    def register(labelled: Callable[..., Labelled]) -> Callable[..., Labelled]:
        RULES.update(dict.fromkeys(names, labelled))
        return labelled

    return register


@labels_of("det", "slogdet", "inv", "pinv", "qr", "eigh", "eig", "svd", "matrix_power", "cholesky")
def _stacked(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """A stack of matrices, and as many of each result."""
    stack = inputs[0].ndim - 2
    made = [leading(y.ndim, y.ndim - stack) for y in results]
    known = [leading(_axes(x), 0 if k else 2) for k, x in enumerate(inputs)]
    return known, made, [leading(x.ndim, 0) for x in beside]


@labels_of("solve")
def _solve(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """A vector is one for all matrices."""
    a, b = inputs
    core = min(_axes(b), 2)
    return [leading(a.ndim, 2), leading(_axes(b), core)], [leading(results[0].ndim, core)], []


@labels_of("quantile", "percentile", "nanquantile", "nanpercentile")
def _quantile(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """Each fraction along axes in one piece; the fractions' own axes come first in the result."""
    a, q, *weights = inputs
    axis = params.get("axis")
    core = tuple(
        k - a.ndim for k in normalize_axis_tuple(range(a.ndim) if axis is None else axis, a.ndim)
    )
    labels = right(a.ndim, core)
    kept = labels if params.get("keepdims") else tuple(name for name in labels if name is not None)
    beside = [labels if _axes(w) == a.ndim else (None,) * _axes(w) for w in weights]
    return [labels, (None,) * _axes(q), *beside], [(*(None,) * _axes(q), *kept)], []


@labels_of("interp")
def _interp(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """The places element by element, each beside all knots."""
    x, *rest = inputs
    return [right(_axes(x)), *((None,) * _axes(one) for one in rest)], [right(_axes(x))], []


@labels_of("index", "take")
def _indexed(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """Rows of an array at an index that is not computed: its elements one by one, each beside all rows."""
    (table,) = inputs
    if len(beside) != 1 or params.get("axis") not in {None, 0} or is_lazy(table):
        return _whole(inputs, results, params, beside)
    labels = right(beside[0].ndim)
    rest = (None,) * (results[0].ndim - len(labels))
    return [(None,) * table.ndim], [(*labels, *rest)], [labels]


@labels_of("take_along_axis")
def _taken(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """Elements along an axis in one piece."""
    a = inputs[0]
    axis = params.get("axis", -1)
    if axis is None or any(_axes(x) != a.ndim for x in (*inputs, *beside)):
        return _whole(inputs, results, params, beside)
    labels = right(a.ndim, [k - a.ndim for k in normalize_axis_tuple(axis, a.ndim)])
    return [labels for _ in inputs], [labels], [labels for _ in beside]


@labels_of("cumprod")
def _running(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """Products of the elements so far, along an axis in one piece."""
    x, axis = inputs[0], params.get("axis")
    if axis is None:
        return _whole(inputs, results, params, beside)
    labels = right(x.ndim, [k - x.ndim for k in normalize_axis_tuple(axis, x.ndim)])
    return [labels], [labels], []


def _whole(inputs: Any, results: Any, params: dict[str, Any], beside: list[Any]) -> Labelled:
    """Everything in one chunk each."""
    return (
        [(None,) * _axes(x) for x in inputs],
        [(None,) * y.ndim for y in results],
        [(None,) * x.ndim for x in beside],
    )


def _shape(x: Any) -> tuple[int, ...]:
    """The shape of an array, in memory or not, or of a number; NumPy's function would compute it."""
    return tuple(getattr(x, "shape", ()))


def _axes(x: Any) -> int:
    return len(_shape(x))


def gradient_in_chunks(
    operation: Operation, position: int, arguments: tuple[Any, ...], params: dict[str, Any]
) -> Any:
    """The gradient of an input of an operation by its rule, of tensors if the arguments are tensors."""
    g, y, *inputs = arguments
    several = isinstance(g, tuple)
    given = (*(g if several else (g,)), *(y if several else (y,)), *inputs)
    given = tuple(_stand_in(x) if isinstance(x, Absent) else x for x in given)
    joint = operation.joint_rule is not None
    options: dict[str, Any] = {
        "rule": operation.joint_rule if joint else operation.rules[position],
        "joint": joint,
        "position": position,
        "params": params,
        "results": len(g) if several else 0,
        "name": operation.name,
    }
    if operation.function is input_gradient and _is_constant(unwrap(given), options):
        return None
    return input_gradient(*given, **options)


def _is_constant(values: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether a rule does not depend on an input, by a trial on numbers of no meaning."""
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
    if parts.options or sum(getattr(x, "size", 1) for x in dummies) > TRIAL:
        return False
    rule = options["rule"]
    try:
        with silence(), np.errstate(all="ignore"):
            (found,) = rule(
                (options["position"],), dummies[0], dummies[1], *dummies[2:], **options["params"]
            )
    except Exception:  # noqa: BLE001 (the rule may refuse such numbers)
        return False
    return found is None


def _stand_in(x: Absent) -> Any:
    """Zeros in the place of an array that no rule reads."""
    return np.broadcast_to(x.dtype.type(0), x.shape)


class Parts(NamedTuple):
    """The arguments of `input_gradient`, and the labels of their axes."""

    results: list[Labels]
    inputs: list[Labels]
    options: list[Labels]
    own: Labels


def _labels(values: Sequence[Any], options: dict[str, Any]) -> Parts:
    """The labels of the axes of what `input_gradient` is given, and of its result."""
    count = options["results"] or 1
    results, inputs = values[count : 2 * count], values[2 * count :]
    params, name = options["params"], options["name"]
    if name == input_gradient.__name__:
        inner = _labels(inputs, params)
        known = [*inner.results, *inner.results, *inner.inputs]
        return Parts([inner.own], known, inner.options, known[options["position"]])
    found: list[Any] = []
    taken_out(params, is_array, found)
    known, made, beside = RULES.get(name, _whole)(inputs, results, params, found)
    return Parts(made, known, beside, known[options["position"]])


@way(input_gradient)
def in_chunks(*values: Any, **options: Any) -> Any:
    """The gradient of an input by a rule that runs in each chunk."""
    parts = _labels(values, options)
    count = options["results"] or 1
    inputs = values[2 * count :]
    for one, names in zip(inputs, parts.inputs, strict=True):
        require_whole("its rule", one, names)
    most = 2 * max([getattr(one, "size", 1) for one in inputs], default=0)
    results = [
        _joined(one, names, most)
        for one, names in zip(values[: 2 * count], [*parts.results, *parts.results], strict=True)
    ]
    arrays: list[Any] = []
    args = taken_out((*results, *inputs), is_array, arrays)
    given = [*parts.results, *parts.results, *parts.inputs]
    labels = [names for x, names in zip(args, given, strict=True) if type(x) is Slot]
    kwargs = taken_out(options, is_array, arrays)
    labels += parts.options
    lengths = lengths_of(arrays, labels)
    short = {name for name, n in lengths.items() if n == 1}
    labels = [tuple(None if name in short else name for name in names) for names in labels]
    for one, names in zip(arrays[len(arrays) - len(parts.options) :], parts.options, strict=True):
        require_whole("its rule", one, names)
    arrays = [whole_if_empty(x, names) for x, names in zip(arrays, labels, strict=True)]
    x = inputs[options["position"]]
    own = tuple(
        None if name in short or n == 1 else name
        for name, n in zip(parts.own, _shape(x), strict=True)
    )
    missing = sorted({name for names in labels for name in names if name is not None} - {*own})
    return _added_up(
        Task(_summand, args, kwargs | {"axes": len(missing)}), arrays, labels, own, x, missing
    )


def _joined(y: Any, names: Labels, most: int) -> Any:
    """A result, or its gradient, in one piece along the axes without label, if it is not large."""
    if not is_lazy(y):
        return y
    if y.size > most:
        require_whole("its rule", y, names)
    return y.rechunk({axis: -1 for axis, name in enumerate(names) if name is None})


def _summand(*values: Any, axes: int, **options: Any) -> Any:
    """The part of a gradient that comes from one chunk, with axes of one in front of its own."""
    with silence():
        return unwrap(input_gradient(*values, **options))[(None,) * axes]


def _added_up(
    task: Task,
    arrays: list[Any],
    labels: list[Labels],
    own: Labels,
    x: Any,
    missing: list[Any],
) -> Any:
    """The gradient of an input, with the sums over labels that it does not have."""
    arrays = cut_alike(arrays, labels)
    pairs = [
        part
        for one, names in zip(arrays, unique(labels), strict=True)
        for part in (one, names if is_lazy(one) else None)
    ]
    new = {NEW + k: n for k, n in enumerate(_shape(x)) if own[k] is None}
    index = (*missing, *(NEW + k if name is None else name for k, name in enumerate(own)))
    token = tokenize(
        task.args, task.kwargs, [one.name if is_lazy(one) else one for one in arrays], labels
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
    found = apart(summands, new)
    if not missing:
        return found
    wide = np.result_type(x.dtype, np.float64)
    return astype(folded(np.add, found, tuple(range(len(missing))), False, wide), x.dtype)
