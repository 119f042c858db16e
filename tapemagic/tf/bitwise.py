"""``tf.bitwise``: operations on the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.tf.core.adapter import adapter
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.elementwise import checked

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]


def _two(called: str, compute: Any, doc: str) -> Any:
    def computed(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = matched(called, x, y)
        # As arrays, off the tape: functions of integers have no derivative. Booleans are refused, which NumPy's bitwise
        # functions accept; TensorFlow has tf.logical_and for them.
        return compute(np.asarray(checked(called, x, "iu")), np.asarray(y))

    computed.__name__ = computed.__qualname__ = called
    computed.__doc__ = doc
    return adapter(computed)


bitwise_and = _two("bitwise_and", np.bitwise_and, "The bits that are set in both numbers.")
bitwise_or = _two(
    "bitwise_or", np.bitwise_or, "The bits that are set in at least one of the numbers."
)
bitwise_xor = _two(
    "bitwise_xor", np.bitwise_xor, "The bits that are set in exactly one of the numbers."
)
left_shift = _two("left_shift", np.left_shift, "x with its bits moved up by y places.")
right_shift = _two("right_shift", np.right_shift, "x with its bits moved down by y places.")


@adapter
def invert(x: Any, name: str | None = None) -> Any:
    """Invert all bits."""
    return np.invert(np.asarray(checked("invert", tensor(x), "iu")))


__getattr__ = missing(__name__, __all__)
