"""Control flow functions, which run eagerly; Python's ``if`` and ``for`` do the same."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import wraps
from itertools import chain, repeat
from typing import Any

import numpy as np

from tapemagic.engine.effects import effect
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import is_leaf, leaves, pack
from tapemagic.engine.recording import live, silence
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tensor.variable import living, value_of
from tapemagic.engine.tracing import tracer, untraced
from tapemagic.errors import OptionError, UnsupportedArgumentError
from tapemagic.tf.core.adapter import adapter_to_several
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.nest import assert_same_structure
from tapemagic.tf.ops.about import inside_function
from tapemagic.tf.ops.all_slices import AllSlices
from tapemagic.tf.ops.tensor_array import TensorArray

Function = Callable[..., Any]


def _truth(pred: Any) -> bool:
    """Convert a tensor or Python value to bool."""
    return bool(unwrap(pred))


def cond(
    pred: Any,
    true_fn: Function | None = None,
    false_fn: Function | None = None,
    name: str | None = None,
) -> Any:
    """Call `true_fn` if `pred` is true, else `false_fn`; return the result.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.constant(3.0)
    >>> print(tf.cond(x > 0, lambda: 2 * x, lambda: x))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """
    chosen = true_fn if _truth(pred) else false_fn
    if not callable(chosen):
        raise OptionError("tf.cond takes two functions without arguments: write lambda: 2 * x")
    return _tensors(chosen())


def _tensors(result: Any) -> Any:
    """Convert the numbers in a result to tensors."""
    return pack(
        result,
        [
            x if x is None or isinstance(x, TensorArray) else eager(tensor(x))
            for x in leaves(result)
        ],
    )


def case(
    pred_fn_pairs: Any,
    default: Function | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Call the first function whose condition is true, else `default`; return the result."""
    # All conditions are evaluated, since `exclusive` must see whether a second one is true; only one function is
    # called.
    chosen = [fn for pred, fn in pred_fn_pairs if _truth(pred)]
    if exclusive and len(chosen) > 1:
        raise InvalidArgumentError(
            "more than one of the conditions is true, and exclusive=True allows one"
        )
    first = chosen[0] if chosen else default
    if first is None:
        raise InvalidArgumentError("none of the conditions is true, and there is no default")
    return _tensors(first())


def switch_case(
    branch_index: Any, branch_fns: Any, default: Function | None = None, name: str = "switch_case"
) -> Any:
    """Call the function at `branch_index`; for other indices `default`, or the last function."""
    functions = dict(branch_fns if isinstance(branch_fns, dict) else _numbered(branch_fns))
    # Without a default, TensorFlow takes the function with the largest index for every index out of range.
    otherwise = default if default is not None else functions[max(functions)]
    chosen: Any = functions.get(int(branch_index), otherwise)
    return _tensors(chosen())


def _numbered(functions: Any) -> Any:
    return functions if isinstance(functions[0], tuple) else enumerate(functions)


def while_loop(
    cond: Function,
    body: Function,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Replace the loop variables by ``body(*loop_vars)`` while ``cond(*loop_vars)`` is true.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> i, = tf.while_loop(lambda i: i < 10, lambda i: [i + 4], [tf.constant(0)])
    >>> print(i)
    tf.Tensor(12, shape=(), dtype=int32)
    """
    # Ignoring it would return gradients that TensorFlow does not compute.
    if not back_prop:
        raise OptionError(
            "while_loop has no back_prop=False: write tf.stop_gradient around its results"
        )
    loop_values = _tensors(loop_vars)
    rounds = 0
    while (maximum_iterations is None or rounds < int(maximum_iterations)) and _truth(
        cond(*loop_values)
    ):
        returned = body(*loop_values)
        returned = [returned] if is_leaf(returned) else returned
        # A body may return a tuple where loop_vars was a list, but no other structure inside.
        assert_same_structure(list(loop_values), list(returned))
        loop_values = _tensors(returned)
        rounds += 1
    return loop_values


@adapter_to_several
def map_fn(
    fn: Function,
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: Any = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Apply a function to each slice along the first axis and stack the results."""
    return _stacked([_tensors(fn(x)) for x in _slices(elems)])


def vectorized_map(
    fn: Function, elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Apply a function to each slice, like `map_fn`, and where its operations allow it to all slices at once.

    The function is then called twice, instead of once for each slice; another result of the second call, such as random
    numbers, leads to a call for each slice.
    """
    result = _of_all_slices(fn, elems)
    return map_fn(fn, elems) if result is None else result


def _of_all_slices(fn: Function, elems: Any) -> Any:
    """Return the results of all slices, or None if the function needs them one by one."""
    inputs = [eager(tensor(x)) for x in ([elems] if _is_array(elems) else leaves(elems))]
    counts = {len(x) if x.ndim else 0 for x in inputs}
    # A trace would see both calls, and the comparison of their results.
    if tracer() is not None:
        return None
    # Few slices are not worth a second call.
    if len(counts) != 1 or min(counts) < MIN_SLICES or any(is_lazy(unwrap(x)) for x in inputs):
        return None
    (count,) = counts

    def called() -> Any:
        stand_ins = [AllSlices(x) for x in inputs]
        result = fn(stand_ins[0] if _is_array(elems) else pack(elems, stand_ins))
        parts = [
            x.every if isinstance(x, AllSlices) else _repeated(x, count) for x in leaves(result)
        ]
        return pack(result, parts)

    try:
        with silence():
            first = called()
        second = called()
    # Any error: the calls for single slices raise it again, if it isn't one of the stand-in.
    except Exception:  # noqa: BLE001
        return None
    pairs = zip(leaves(first), leaves(second), strict=True)
    same = all(np.array_equal(unwrap(a), unwrap(b), equal_nan=True) for a, b in pairs)
    return second if same else None


def _repeated(x: Any, count: int) -> Any:
    x = tensor(x)
    return eager(np.broadcast_to(x, (count, *x.shape)))


MIN_SLICES = 4
"""The minimum number of slices that are computed at once."""


def _slices(elems: Any) -> list[Any]:
    """List the slices along the first axis, of a tensor or of all tensors in a structure."""
    loop_values = [eager(tensor(x)) for x in ([elems] if _is_array(elems) else leaves(elems))]
    counts = {len(x) for x in loop_values}
    if len(counts) != 1:
        raise InvalidArgumentError(
            f"elems have first axes of different lengths, {sorted(counts)}: make them equal"
        )
    rows = [[x[k] for x in loop_values] for k in builtins.range(counts.pop())]
    return [row[0] if _is_array(elems) else pack(elems, row) for row in rows]


def _is_array(elems: Any) -> bool:
    """Return True if elements form a single tensor: a tensor, an array, or lists of numbers."""
    return hasattr(elems, "__array__") or (
        isinstance(elems, list) and not any(hasattr(x, "__array__") for x in leaves(elems))
    )


def _stacked(rows: list[Any]) -> Any:
    if not rows:
        raise InvalidArgumentError(
            "there are no slices to call the function with: the first axis is empty"
        )
    columns = zip(*map(leaves, rows), strict=True)
    return pack(rows[0], [np.stack([tensor(x) for x in column]) for column in columns])


def _folded(fn: Function, elems: Any, initializer: Any, from_end: bool) -> list[Any]:
    """List the successive values of a fold."""
    rows = _slices(elems)
    if from_end:
        rows.reverse()
    if initializer is None:
        # Without an initializer the first slice starts the fold, and `scan` keeps it as the first result.
        value, rows = rows[0], rows[1:]
        values = [value]
    else:
        value, values = _tensors(initializer), []
    for row in rows:
        value = _tensors(fn(value, row))
        values.append(value)
    return values or [value]


def foldl(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Fold the slices along the first axis: ``value = fn(value, slice)``."""
    return _folded(fn, elems, initializer, False)[-1]


def foldr(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Fold the slices along the first axis, starting with the last."""
    return _folded(fn, elems, initializer, True)[-1]


@adapter_to_several
def scan(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Fold like `foldl`, and stack all intermediate values.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.scan(lambda total, x: total + x, [1, 2, 3]))
    tf.Tensor([1 3 6], shape=(3,), dtype=int32)
    """
    rows = _folded(fn, elems, initializer, reverse)
    # Results stay at the places of their slices: in reverse, the last slice was folded first.
    return _stacked(rows[::-1] if reverse else rows)


def py_function(
    func: Function | None = None, inp: Any = None, Tout: Any = None, name: str | None = None
) -> Any:
    """Call a function of tensors; return its result. Without `func`, return a decorator.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> @tf.py_function(Tout=tf.float32)
    ... def twice(x):
    ...     return 2 * x
    >>> print(twice(tf.constant(3.0)))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """
    if func is None or inp is None:
        return _decorator("py_function", func, Tout, py_function)
    # A tape differentiates the function's own operations, so it must see them.
    trace = None if live() else tracer()
    if trace is not None and inside_function():
        return _called_by_programs(trace, py_function, func, inp, Tout)
    result = func(*[eager(tensor(x)) for x in inp])
    if result is None:
        return []
    kinds = Tout if isinstance(Tout, list | tuple) else [Tout]
    # As in TensorFlow, several results come in a list.
    result = list(result) if isinstance(result, tuple) else result
    return pack(result, map(_of_dtype, leaves(result), chain(kinds, repeat(None))))


def _of_dtype(value: Any, dtype: Any) -> Any:
    """Convert a result of a Python function to a tensor; numbers and arrays get a dtype, as in TensorFlow."""
    if dtype is None or isinstance(value, Traced):
        return eager(tensor(value))
    return eager(tensor(np.asarray(value, numpy_dtype(dtype))))


def numpy_function(
    func: Function | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a function of NumPy arrays; no gradient flows through the call. Without `func`, return a decorator."""
    if func is None or inp is None:
        return _decorator("numpy_function", func, Tout, numpy_function)
    trace = tracer()
    if trace is not None and inside_function():
        return _called_by_programs(trace, numpy_function, func, inp, Tout)
    # As arrays, so that no gradient flows, as in TensorFlow; py_function passes tensors.
    result = func(*[eager(tensor(x)).numpy() for x in inp])
    return _tensors(list(result) if isinstance(result, tuple) else result)


def _called_by_programs(trace: Any, way: Any, func: Any, inp: Any, Tout: Any) -> Any:
    """Call a Python function as an effect of a program, which calls it at each run."""
    several = isinstance(Tout, list | tuple)
    kinds = [*Tout] if several else [Tout]
    before = [(variable, value_of(variable)) for variable in living()]
    arrays = call_python(way, func, [unwrap(tensor(x)) for x in inp], kinds)
    if any(value_of(variable) is not value for variable, value in before):
        # A later line would read the new value, and the program take it for a constant.
        trace.mark_exit(f"tf.{way.__name__} of a function that assigns a Variable")
    if arrays is None:
        return []
    # Shapes may depend on the numbers, and later calls of the program are made for these.
    trace.require_kind(tuple(arrays))
    results = [eager(tensor(x)) for x in arrays]
    return results if several or len(results) > 1 else results[0]


@effect
def call_python(way: Any, func: Any, arrays: Any, kinds: Any) -> Any:
    """Call a Python function of a program as `py_function` or `numpy_function`; see `engine.effects`.

    Examples
    --------
    >>> call_python(numpy_function, np.negative, [np.ones(2)], [np.float64])
    [array([-1., -1.])]
    """
    with untraced():
        result = way(func, arrays, kinds if len(kinds) > 1 else kinds[0])
    found = [unwrap(x) for x in (result if isinstance(result, list) else [result])]
    return found or None


def _decorator(name: str, func: Any, Tout: Any, call: Function) -> Function:
    """Return the decorator ``@tf.py_function(Tout=...)``, or that of numpy_function."""
    if func is not None or Tout is None:
        raise UnsupportedArgumentError(
            f"Missing required argument: 'Tout'. As a decorator, write @tf.{name}(Tout=tf.float32), with the dtype of "
            "the result"
        )

    def decorate(function: Function) -> Function:
        @wraps(function)
        def called(*args: Any) -> Any:
            return call(function, args, Tout)

        return called

    return decorate


def group(*inputs: Any, **_options: Any) -> None:
    """Do nothing: the operations have already run."""


def no_op(name: str | None = None) -> None:
    """Do nothing at all."""


class _Always:
    """Context manager without effect."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_error: object) -> None:
        return None


def control_dependencies(control_inputs: Any) -> Any:
    """Context without effect: operations run in program order."""
    return _Always()


def init_scope() -> Any:
    """Context whose operations run when a function is traced, not in its program."""
    traced = getattr(tracer(), "traced", None)
    return _Always() if traced is None else traced.outside()


def device(device_name: Any) -> Any:
    """Context without effect: there is one device."""
    return _Always()
