"""Initializers: the initial values of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.nn.identifiers import find, snake_case
from tapemagic.nn.initializers.constants import Constant as Constant
from tapemagic.nn.initializers.constants import Identity as Identity
from tapemagic.nn.initializers.constants import Ones as Ones
from tapemagic.nn.initializers.constants import Zeros as Zeros
from tapemagic.nn.initializers.distributions import RandomNormal as RandomNormal
from tapemagic.nn.initializers.distributions import RandomUniform as RandomUniform
from tapemagic.nn.initializers.distributions import TruncatedNormal as TruncatedNormal
from tapemagic.nn.initializers.initializer import Initializer as Initializer
from tapemagic.nn.initializers.initializer import dtype_of
from tapemagic.nn.initializers.orthogonal import Orthogonal as Orthogonal
from tapemagic.nn.initializers.scaling import GlorotNormal as GlorotNormal
from tapemagic.nn.initializers.scaling import GlorotUniform as GlorotUniform
from tapemagic.nn.initializers.scaling import HeNormal as HeNormal
from tapemagic.nn.initializers.scaling import HeUniform as HeUniform
from tapemagic.nn.initializers.scaling import LecunNormal as LecunNormal
from tapemagic.nn.initializers.scaling import LecunUniform as LecunUniform
from tapemagic.nn.initializers.scaling import VarianceScaling as VarianceScaling

_CLASSES = (
    Constant, GlorotNormal, GlorotUniform, HeNormal, HeUniform, Identity, LecunNormal, LecunUniform,
    Ones, Orthogonal, RandomNormal, RandomUniform, TruncatedNormal, VarianceScaling, Zeros,
)  # fmt: skip
if not TYPE_CHECKING:  # as in `nn.layers`
    __all__ = ["Initializer", "get"]
    __all__ += [kind.__name__ for kind in _CLASSES]

_TABLE: dict[str, Any] = {
    **{snake_case(kind.__name__): kind for kind in _CLASSES},
    **{kind.__name__: kind for kind in _CLASSES},
    "normal": RandomNormal,
    "one": Ones,
    "uniform": RandomUniform,
    "zero": Zeros,
}


def get(identifier: Any) -> Any:
    """Look up the initializer for `identifier`: a name, a class, an object, a function or an array. None stays None.

    A function is called with a shape and ``dtype=``. An array is the value itself.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.initializers.get("zeros")((2,))
    array([0., 0.], dtype=float32)
    """
    if isinstance(identifier, np.ndarray | np.generic | Traced):
        # An array isn't a name or callable, but convenient for weights that were trained elsewhere. It's copied at each
        # call, so that two variables don't share memory.
        value = unwrap(identifier)
        return lambda shape, dtype=None: np.array(value, dtype_of(dtype))  # noqa: ARG005 (an initializer's signature)
    return None if identifier is None else find(identifier, _TABLE, "an initializer")
