"""Custom gradients and related functions of ``tf``."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper, wraps
from typing import Any

from tapemagic.engine.functions import custom_gradient as custom
from tapemagic.engine.functions import recompute_grad as recomputing
from tapemagic.engine.functions import stop_gradient as stopping
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tensor.messages import require_function
from tapemagic.engine.tensor.tensor import Traced, plain
from tapemagic.errors import CustomGradientError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.tensor import eager

Function = Callable[..., Any]


def custom_gradient(f: Function | None = None) -> Any:
    """Define the gradient of a function; see `tapemagic.custom_gradient`.

    Parameters
    ----------
    f : callable
        ``f(*args)`` returns its result, and a function that maps the gradient of the result to those of `args`.

    Returns
    -------
    callable
        If `f` is omitted, a decorator.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> x = tf.Variable(50.0)
    >>> with tf.GradientTape() as tape:
    ...     y = log1pexp(x)
    >>> print(tape.gradient(y, x))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    if f is None:
        return custom_gradient
    require_function(f, CustomGradientError)
    inner = custom.custom_gradient(_on_eager(f))
    return _Eager(inner, f)


class _Eager:
    """Engine function or method whose results become EagerTensors."""

    def __init__(self, inner: Any, function: Function) -> None:
        self._inner = inner
        update_wrapper(self, function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        bound = self._inner.__get__(instance, owner)
        return _Eager(bound, self.__wrapped__)  # type: ignore[attr-defined]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return eager(self._inner(*args, **kwargs))


def _on_eager(f: Function) -> Function:
    """Wrap a function for the engine's custom_gradient, which expects engine tensors."""

    @wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        returned = f(*args, **kwargs)
        # Returned unchanged: the engine's custom_gradient explains what is wrong with it.
        if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
            return returned
        result, grad_fn = returned
        return _tensors(result), _gradient_function(grad_fn)

    return called


def _gradient_function(grad_fn: Function) -> Function:
    @wraps(grad_fn)
    def pulled_back(*upstream: Any, **options: Any) -> Any:
        return _plain_answer(grad_fn(*map(eager, upstream), **options))

    return pulled_back


def _plain_answer(answer: Any) -> Any:
    """Convert gradients to engine tensors; None and numbers stay unchanged."""
    # None stays None: it means that no gradient flows to this argument.
    return pack(answer, [plain(x) if isinstance(x, Traced) else x for x in leaves(answer)])


def _tensors(result: Any) -> Any:
    """Convert numbers in a structure to tensors with TensorFlow's dtypes."""
    return pack(result, [tensor(x) if x is not None else x for x in leaves(result)])


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Return the values as constants, through which no gradient flows.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> print(tape.gradient(y, x))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    return eager(stopping.stop_gradient(tensor(input)))


def recompute_grad(f: Function) -> Function:
    """Recompute a function for its gradient instead of storing its intermediate values.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.recompute_grad(lambda x: x * x * x)(x)
    >>> print(tape.gradient(y, x))
    tf.Tensor(12.0, shape=(), dtype=float32)
    """

    @wraps(f)
    def on_eager(*args: Any, **kwargs: Any) -> Any:
        return _tensors(f(*eager(args), **eager(kwargs)))

    # `on_eager` runs a second time in the backward pass, and converts its tensors again then.
    return _Eager(recomputing.recompute_grad(on_eager), f)


def grad_pass_through(f: Function) -> Function:
    """Pass gradients through a function as if it were the identity (straight-through estimator).

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.Variable(1.3)
    >>> with tf.GradientTape() as tape:
    ...     y = 2 * tf.grad_pass_through(tf.round)(x)
    >>> print(tape.gradient(y, x))
    tf.Tensor(2.0, shape=(), dtype=float32)
    """

    @wraps(f)
    def on_eager(*args: Any, **kwargs: Any) -> Any:
        return _tensors(f(*args, **kwargs))

    return _Eager(stopping.grad_pass_through(on_eager), f)
