"""``tf.compat.v1``: TensorFlow 2's names, and the few names that differed in TensorFlow 1."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.tf.core.dtype import float32, float64, int32
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.variable import ResourceVariable
from tapemagic.tf.ops.creation import cast, linspace
from tapemagic.tf.ops.elementwise import divide
from tapemagic.tf.random import normal as random_normal
from tapemagic.tf.random import set_seed as set_random_seed
from tapemagic.tf.random import shuffle as random_shuffle
from tapemagic.tf.random import truncated_normal
from tapemagic.tf.random import uniform as random_uniform

__all__ = [
    "assign", "assign_add", "assign_sub", "disable_eager_execution", "div",
    "enable_eager_execution", "enable_resource_variables", "enable_v2_behavior", "get_variable",
    "lin_space", "random_normal", "random_shuffle", "random_uniform", "set_random_seed",
    "to_double", "to_float", "to_int32", "truncated_normal",
]  # fmt: skip

# TensorFlow 1's `tf.div` floors the quotient of integers; here it is the true quotient, as in TensorFlow 2 and Python
# 3.
lin_space = linspace
div = divide


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Do nothing: every operation always runs immediately.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.enable_eager_execution()
    """


def enable_v2_behavior() -> None:
    """Do nothing: this is TensorFlow 2's behavior already."""


def enable_resource_variables() -> None:
    """Do nothing: all variables are of this kind."""


def disable_eager_execution() -> None:
    """Raise an error, because there are no graphs."""
    raise UnsupportedArgumentError("there are no graphs here: every operation runs at once")


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    **_options: Any,
) -> ResourceVariable:
    """Create a variable from `initializer`, a value or a function of shape and dtype."""
    if initializer is None:
        raise UnsupportedArgumentError(
            "give get_variable an initializer: a value, or a function of shape and dtype"
        )
    if regularizer is not None:
        raise UnsupportedArgumentError(
            "get_variable has no regularizer here: add its loss yourself"
        )
    value = initializer(shape, dtype or "float32") if callable(initializer) else initializer
    return ResourceVariable(value, trainable, name=name, dtype=dtype, shape=shape)


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Cast to float32."""
    return cast(x, float32)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """Cast to float64."""
    return cast(x, float64)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Cast to int32."""
    return cast(x, int32)


def assign(ref: Any, value: Any, **_options: Any) -> Any:
    """Change the value of a variable."""
    return ref.assign(value)


def assign_add(ref: Any, value: Any, **_options: Any) -> Any:
    """Add to the value of a variable."""
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, **_options: Any) -> Any:
    """Subtract from the value of a variable."""
    return ref.assign_sub(value)


_missing = missing(__name__, __all__)


def __getattr__(name: str) -> Any:
    """Look up a TensorFlow 2 name at the top level or in ``tf.math``."""
    # Imported only now: tapemagic.tf itself imports this module, so a module-level import would be circular.
    for module in ("tapemagic.tf", "tapemagic.tf.math"):
        offered = import_module(module)
        if name in offered.__all__:
            return getattr(offered, name)
    return _missing(name)
