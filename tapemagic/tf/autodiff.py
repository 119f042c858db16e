"""``tf.autodiff.ForwardAccumulator``: forward mode."""

from __future__ import annotations

from typing import Any, Self

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tape.unconnected import UnconnectedGradients
from tapemagic.errors import NotATensorError, ShapeError
from tapemagic.tape import GradientTape
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.tensor import eager, is_tensor
from tapemagic.tf.ops.creation import zeros_like

__all__ = ["ForwardAccumulator"]


class ForwardAccumulator:
    """Computes Jacobian-vector products: how results change if the primals move along the tangents.

    Parameters
    ----------
    primals : Tensor, Variable, or nested structure of them
        The values to differentiate with respect to.
    tangents : array_like or structure of them
        Directions with the shapes of the primals.

    Raises
    ------
    NotATensorError
        If a primal is not a tensor.
    ShapeError
        If primals and tangents differ in number or shape.

    Notes
    -----
    The product is the derivative of a vector-Jacobian product with respect to its vector: two backward passes
    (J. Townsend, "A new trick for calculating Jacobian vector products", 2017).

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x * x)
    >>> print(acc.jvp(y))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._primals = leaves(primals)
        for x in self._primals:
            if not is_tensor(x):
                raise NotATensorError(
                    "a primal must be a tensor or a variable: write tf.constant(x)"
                )
        # For a single primal, `tangents` may be a nested list of numbers: leaves() would take it apart.
        directions = [tangents] if is_tensor(primals) else leaves(tangents)
        if len(directions) != len(self._primals):
            raise ShapeError(
                f"there are {len(self._primals)} primals and {len(directions)} tangents: give one for each"
            )
        self._tangents = [
            eager(tensor(v, x.dtype)) for v, x in zip(directions, self._primals, strict=True)
        ]
        for v, x in zip(self._tangents, self._primals, strict=True):
            if v.shape != x.shape:
                raise ShapeError(f"a tangent has shape {v.shape}, and its primal {x.shape}")
        # Persistent, because `jvp` may be called several times, also inside the block. Only the primals are watched:
        # every other input has the tangent 0.
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)

    def __enter__(self) -> Self:
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *error: object) -> None:
        self._tape.__exit__(None, None, None)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the Jacobian-vector products of results; None (or zeros) for unconnected results."""
        return pack(primals, [self._product(y, unconnected_gradients) for y in leaves(primals)])

    def _product(self, y: Any, unconnected: Any) -> Any:
        zero = UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
        with GradientTape() as outer:
            # The value of the weights does not matter: the product J^T w is linear in w, and its derivative is J.
            weights = zeros_like(y)
            outer.watch(weights)
            # Inside the outer tape, which records this backward pass: its result J^T w is differentiated with respect
            # to w.
            gradients = self._tape.gradient(y, self._primals, output_gradients=weights)
        # A primal that y does not depend on contributes nothing to the product; None could not be a target of the outer
        # tape.
        pairs = [(g, v) for g, v in zip(gradients, self._tangents, strict=True) if g is not None]
        if not pairs:
            return zeros_like(y) if zero else None
        result = outer.gradient(
            [g for g, _ in pairs], weights, output_gradients=[v for _, v in pairs]
        )
        # None here means that J^T w does not depend on w: the derivative of y is zero, although y is connected.
        return zeros_like(y) if result is None else result


__getattr__ = missing(__name__, __all__)
