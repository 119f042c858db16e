"""Checks and transposes of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.tf.errors import InvalidArgumentError


def maybe_transposed(x: Any, transpose: bool, adjoint: bool) -> Any:
    """Transpose, or conjugate and transpose, the last two axes."""
    if transpose and adjoint:
        raise OptionError("transpose and adjoint can't both be True")
    if transpose or adjoint:
        x = np.swapaxes(x, -1, -2)
    return np.conj(x) if adjoint and x.dtype.kind == "c" else x


def require_matrices(called: str, *xs: Any) -> None:
    """Raise an error for tensors with fewer than two axes."""
    for x in xs:
        if x.ndim < 2:
            raise InvalidArgumentError(
                f"{called} takes tensors with two axes or more, not of shape {x.shape}: write x[None] or "
                "x[:, None], or tf.linalg.matvec, or tf.tensordot"
            )
