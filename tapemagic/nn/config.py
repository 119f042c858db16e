"""Defaults of all layers: the dtype of weights, and the epsilon that keeps divisions finite."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tapemagic.engine.runtime import register_global_state
from tapemagic.errors import DtypeError

_FLOATS = ("float16", "float32", "float64")
_default = register_global_state(["float32"])


def floatx() -> str:
    """Return the default dtype of weights and computations: "float32", unless `set_floatx` was called.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.floatx()
    'float32'
    """
    return _default[0]


def set_floatx(dtype: str) -> None:
    """Set the default dtype of layers that are created later.

    Raises DtypeError for any other dtype.

    Parameters
    ----------
    dtype : {'float32', 'float64', 'float16'}
        Or the corresponding NumPy type.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.set_floatx("float64")
    >>> nn.Dense(2).dtype
    'float64'
    >>> nn.config.set_floatx("float32")
    """
    _default[0] = float_name(dtype)


def float_name(dtype: object) -> str:
    """Return the name of `dtype`, a floating-point dtype; None means the default dtype.

    Examples
    --------
    >>> float_name(None), float_name(float)
    ('float32', 'float64')
    """
    if dtype is None:
        return floatx()
    # The policy in a config of Keras's, which a user's from_config passes on.
    if isinstance(dtype, Mapping) and dtype.get("class_name") == "DTypePolicy":
        dtype = dtype["config"]["name"]
    try:
        name = np.dtype(dtype).name  # type: ignore[call-overload]
    except TypeError:
        name = ""
    if name not in _FLOATS:
        raise DtypeError(
            f"layers, losses and metrics compute in float32, float64 or float16, not in {dtype!r}: "
            "write dtype='float32'"
        )
    return str(name)


def epsilon() -> float:
    """Return 1e-7, the small number by which losses and optimizers keep logarithms and divisions finite.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.epsilon()
    1e-07
    """
    # Keras's value: above the resolution of float32 near 1 (6e-8), so that 1 - epsilon() is less than 1.
    return 1e-7
