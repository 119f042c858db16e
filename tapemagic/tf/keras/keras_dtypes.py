"""The dtypes of Keras's operations: as in JAX, a Python number or an integer adopts a floating-point dtype."""

from __future__ import annotations

from typing import Any

from tapemagic import nn
from tapemagic.engine.operations.selection import cast as engine_cast
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.tf.core.convert import tensor


def floats(x: Any) -> Any:
    """Return a tensor of floating-point numbers: integers and bools are converted to `nn.config.floatx`."""
    x = converted(x)
    return x if x.dtype.kind in "fc" else engine_cast(x, nn.config.floatx())


def converted(x: Any) -> Any:
    """Return a tensor, or a symbolic tensor unchanged."""
    return x if hasattr(x, "__tape_function__") and not isinstance(x, Traced) else tensor(x)


def pair(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Return two operands in one dtype: NumPy would promote int32 and float32 to float64, and Keras to float32."""
    # Python numbers stay: they adopt the dtype of the other operand.
    plain = [x if type(x) in {bool, int, float} else converted(x) for x in (x1, x2)]
    kinds = [x.dtype if hasattr(x, "dtype") else None for x in plain]
    if kinds == [None, None]:
        return tensor(x1), tensor(x2)
    for i, j in ((0, 1), (1, 0)):
        mine, other = kinds[i], kinds[j]
        if mine is None or mine.kind not in "biu":
            continue
        if isinstance(plain[j], float):
            plain[i] = engine_cast(plain[i], nn.config.floatx())
        elif other is not None and other.kind in "fc":
            plain[i] = engine_cast(plain[i], other)
    return plain[0], plain[1]


def alike(xs: Any) -> list[Any]:
    """Return tensors in one dtype, floating-point if any of them is."""
    tensors = [converted(x) for x in xs]
    floats = [x.dtype for x in tensors if x.dtype.kind in "fc"]
    if not floats:
        return tensors
    return [x if x.dtype.kind in "fc" else engine_cast(x, floats[0]) for x in tensors]
