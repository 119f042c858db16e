"""Defaults of all layers: the dtype of weights, and the epsilon that keeps divisions finite."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tapemagic.engine.runtime import register_global_state
from tapemagic.errors import DtypeError, OptionError

_FLOATS = ("float16", "float32", "float64")
_default = register_global_state(["float32"])
_policy: list[str | None] = register_global_state([None])
"""The dtype of layers, if `set_dtype_policy` was called."""


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
    if isinstance(dtype, DTypePolicy):
        return dtype.name
    if isinstance(dtype, str) and dtype.startswith("mixed_"):
        return DTypePolicy(dtype).name
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


_epsilon = register_global_state([1e-7])


class DTypePolicy:
    """The dtype of the variables and the computations of layers.

    Raises DtypeError for a policy with two dtypes, such as "mixed_float16".

    Parameters
    ----------
    name : {'float32', 'float64', 'float16'}

    Examples
    --------
    >>> from tapemagic import nn
    >>> policy = nn.config.DTypePolicy("float64")
    >>> nn.Dense(2, dtype=policy).dtype
    'float64'
    """

    def __init__(self, name: str) -> None:
        if str(name).startswith("mixed_"):
            # Float16 is slower than float32 on a processor, so its only effect would be rounding.
            raise DtypeError(
                f"the policy {name!r} computes in one dtype and keeps variables in another, for graphics cards: write "
                "'float32', or 'float16' to see its rounding"
            )
        self.name = float_name(name)
        self.compute_dtype = self.variable_dtype = self.name

    def get_config(self) -> dict[str, str]:
        """Return the name, as Keras stores it."""
        return {"name": self.name}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTypePolicy) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'


def dtype_policy() -> DTypePolicy:
    """Return the policy of layers that are created without a dtype.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.dtype_policy()
    <DTypePolicy "float32">
    """
    return DTypePolicy(_policy[0] or floatx())


def set_dtype_policy(policy: str | DTypePolicy | None) -> None:
    """Set the policy of layers that are created later; losses and metrics compute in `floatx`, as in Keras.

    Parameters
    ----------
    policy : str, DTypePolicy or None
        With None, layers follow `floatx`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.set_dtype_policy("float64")
    >>> nn.Dense(2).dtype, nn.config.floatx()
    ('float64', 'float32')
    >>> nn.config.set_dtype_policy(None)
    """
    name = policy.name if isinstance(policy, DTypePolicy) else policy
    _policy[0] = None if name is None else DTypePolicy(name).name


def layer_dtype(dtype: object) -> str:
    """Return the name of the dtype of a layer, by default that of the policy.

    Parameters
    ----------
    dtype : dtype, DTypePolicy or None

    Examples
    --------
    >>> layer_dtype(None), layer_dtype("float16")
    ('float32', 'float16')
    """
    return float_name(_policy[0] if dtype is None else dtype)


def epsilon() -> float:
    """Return the small number by which losses and optimizers keep logarithms and divisions finite, 1e-7.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.epsilon()
    1e-07
    """
    # Keras's value: above the resolution of float32 near 1 (6e-8), so that 1 - epsilon() is less than 1.
    return _epsilon[0]


def set_epsilon(value: float) -> None:
    """Set the small number that `epsilon` returns.

    Parameters
    ----------
    value : float

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.set_epsilon(1e-7)
    """
    _epsilon[0] = float(value)


def image_data_format() -> str:
    """Return "channels_last", the order of the axes of images.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.image_data_format()
    'channels_last'
    """
    return "channels_last"


def set_image_data_format(data_format: str) -> None:
    """Accept "channels_last", or raise OptionError for any other order of axes.

    Parameters
    ----------
    data_format : {'channels_last'}

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.config.set_image_data_format("channels_last")
    """
    if data_format != "channels_last":
        raise OptionError(
            f"images have their channels last here, not {data_format!r}: write np.moveaxis(x, 1, -1) once, for the data"
        )
