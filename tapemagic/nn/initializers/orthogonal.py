"""Orthogonal: initial weights that preserve the lengths of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.errors import ShapeError
from tapemagic.nn.initializers.distributions import RandomInitializer


class Orthogonal(RandomInitializer):
    """A random matrix with orthonormal columns, or rows if there are fewer rows, times a factor [1]_.

    A kernel of more than two axes is a matrix whose rows are all axes except the last. The matrices are uniformly
    distributed [2]_.

    Parameters
    ----------
    gain : float, optional
        The factor.

    References
    ----------
    .. [1] A. M. Saxe, J. L. McClelland and S. Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep
       linear neural networks", ICLR 2014.
    .. [2] F. Mezzadri, "How to generate random matrices from the classical compact groups", Notices of the AMS 54
       (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> q = nn.initializers.Orthogonal(seed=1)((5, 3))
    >>> bool(np.allclose(q.T @ q, np.eye(3), atol=1e-6))
    True
    """

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
        super().__init__(seed)
        self.gain = gain

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw a matrix."""
        if len(shape) < 2:
            raise ShapeError(
                f"orthogonal weights have at least two axes, not the shape {shape}: use another initializer"
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
        # LAPACK chooses the signs of R's diagonal. Only with a positive diagonal is Q uniformly distributed [2].
        q *= np.copysign(1, np.diagonal(r))
        return self.gain * (q if rows >= columns else q.T).reshape(shape)
