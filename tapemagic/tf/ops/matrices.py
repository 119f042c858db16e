"""Checks and transposes of matrices that several operations share."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.tf.errors import InvalidArgumentError


def turned(x: Any, transpose: bool, adjoint: bool) -> Any:
    """The transpose, or the conjugate transpose, of the last two axes."""
    if transpose and adjoint:
        raise OptionError("one of transpose and adjoint may be True, not both")
    if transpose or adjoint:
        x = np.swapaxes(x, -1, -2)
    return np.conj(x) if adjoint and x.dtype.kind == "c" else x


def require_matrices(called: str, *xs: Any) -> None:
    """Refuse tensors with fewer than two axes."""
    for x in xs:
        if x.ndim < 2:
            raise InvalidArgumentError(
                f"{called} takes tensors with two axes or more, not of shape {x.shape}: write x[None] or "
                "x[:, None], or tf.linalg.matvec, or tf.tensordot"
            )
