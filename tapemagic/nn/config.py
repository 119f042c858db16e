"""Defaults of all layers: the dtype of their weights, and the small number that keeps divisions finite."""

from __future__ import annotations

import numpy as np

from tapemagic.engine.runtime import register_global_state
from tapemagic.errors import DtypeError

_FLOATS = ("float16", "float32", "float64")
_default = register_global_state(["float32"])


def floatx() -> str:
    """The dtype of weights and of what layers compute, where a layer is not given one.

    Returns
    -------
    str
        "float32", unless `set_floatx` was called.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.floatx()
    'float32'
    """
    return _default[0]


def set_floatx(dtype: str) -> None:
    """Set the dtype of the layers that are made from now on.

    Parameters
    ----------
    dtype : {'float32', 'float64', 'float16'}
        Whatever NumPy takes for one of these.

    Raises
    ------
    DtypeError
        If it is another one.

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
    """The name of a floating-point dtype; the default one for None.

    Raises
    ------
    DtypeError
        If it is another dtype, or none at all.

    Examples
    --------
    >>> float_name(None), float_name(float)
    ('float32', 'float64')
    """
    if dtype is None:
        return floatx()
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
    """The number 1e-7, by which losses and optimizers keep logarithms and divisions finite.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.epsilon()
    1e-07
    """
    return 1e-7
