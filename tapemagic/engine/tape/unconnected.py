"""Results of a tape: gradients as tensors, and None or zeros for unconnected sources."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from tapemagic.engine.laziness import zeros
from tapemagic.engine.recording import GRADIENT, clock
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor, Traced, new, wrap
from tapemagic.errors import OptionError


class UnconnectedGradients(enum.Enum):
    """The gradient of a source on which the target does not depend: None or zeros.

    Examples
    --------
    >>> import tapemagic as tm
    >>> x, w = tm.Variable(2.0), tm.Variable(3.0)
    >>> with tm.GradientTape() as tape:
    ...     y = x * x
    >>> tape.gradient(y, [x, w], unconnected_gradients=tm.UnconnectedGradients.ZERO)
    [Tensor(4.0), Tensor(0.0)]
    """

    NONE = "none"
    ZERO = "zero"


NONE = UnconnectedGradients.NONE


def zero_wanted(option: UnconnectedGradients | str) -> bool:
    """Return True if an option requests zeros instead of None for unconnected gradients."""
    if option is NONE:
        return False
    try:
        return UnconnectedGradients(option) is UnconnectedGradients.ZERO
    except (ValueError, RecursionError):  # RecursionError: the repr of a list that contains itself
        raise OptionError(
            f"Unknown value for unconnected_gradients: {shown(option)}; write 'none' or 'zero'"
        ) from None


def result_for(
    gradient: Any, source: Traced, zero: bool, shape: tuple[int, ...] | None = None
) -> Tensor | None:
    """Convert the gradient of a source to a tensor in TensorFlow's convention, or to None or zeros if unconnected.

    It has the given shape, or else the source's, and the class of the results of operations on the source.
    """
    kind = source.result_class
    if gradient is None:
        if not zero:
            return None
        result = wrap(zeros(source._value.shape if shape is None else shape, source.dtype))
        result.__class__ = kind
        return result
    if shape is not None and gradient.shape != shape:
        gradient = np.reshape(gradient, shape)[()]
    # The sweep computes dL/da - i dL/db for z = a + ib, without conjugates in the rules. TensorFlow
    # returns the conjugate.
    if gradient.dtype.kind == "c":
        gradient = np.conjugate(gradient)
    result = new(kind)
    result._id = clock[0] - GRADIENT
    if gradient.__class__ is Tensor:
        if gradient._id > 0:
            if kind is Tensor:
                return gradient
            result._id = gradient._id
        gradient = gradient._value
    result._value = gradient
    return result
