"""InputSpec: the input shapes that a layer accepts, checked in one place for all layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import ShapeError

Shape = tuple[int | None, ...]


class InputSpec:
    """The input shapes that a layer accepts: the number of axes, and the lengths of some axes.

    - `axes`: Names of the axes for messages, such as "batch, height, width, channels". Inputs have as many axes, or
      more if dots are among the names, as in "batch, ..., features".
    - `lengths`: The lengths that the layer was built for, by axis.
    - `min_axes`: By default as many as `axes` names.

    Examples
    --------
    >>> spec = InputSpec("batch, ..., features", {-1: 3})
    >>> spec.accepts((None, 3)), spec.accepts((2, 5, 3)), spec.accepts((2, 4)), spec.accepts((3,))
    (True, True, False, False)
    """

    __slots__ = ("axes", "lengths", "max_axes", "min_axes")

    def __init__(
        self,
        axes: str = "...",
        lengths: Mapping[int, int] | None = None,
        min_axes: int | None = None,
    ) -> None:
        names = axes.split(", ")
        count = sum(name != "..." for name in names)
        self.axes = axes
        self.min_axes = count if min_axes is None else min_axes
        # NumPy 2 allows at most 64 axes (NPY_MAXDIMS).
        self.max_axes = 64 if "..." in names else count
        self.lengths = tuple((lengths or {}).items())

    def built_for(self, lengths: Mapping[int, int]) -> InputSpec:
        """Return a copy of this spec with the lengths that a layer was built for."""
        return InputSpec(self.axes, lengths, self.min_axes)

    def accepts(self, shape: Shape) -> bool:
        """Return True if the layer accepts inputs of `shape`, where None means any length."""
        if not self.min_axes <= len(shape) <= self.max_axes:
            return False
        for axis, length in self.lengths:  # noqa: SIM110 -- all() takes three times as long
            if shape[axis] != length and shape[axis] is not None:
                return False
        return True

    def error(self, layer: Any, shape: Any) -> ShapeError:
        """Return the error for inputs of a shape that a layer doesn't accept."""
        if not isinstance(shape, tuple):
            return ShapeError(
                f"the layer {layer.path!r} takes one array or tensor with the axes ({self.axes}), not {shown(shape)}"
            )
        if not self.min_axes <= len(shape) <= self.max_axes:
            return ShapeError(
                f"the layer {layer.path!r} takes inputs with the axes ({self.axes}), and got the shape "
                f"{shape}{_advice(self, len(shape))}"
            )
        wrong = [(axis, n) for axis, n in self.lengths if shape[axis] not in (n, None)]
        needed = " and ".join(f"the length {n} along axis {axis}" for axis, n in wrong)
        return ShapeError(
            f"the layer {layer.path!r} was built for inputs of the shape {layer.built_shape}, and got the shape "
            f"{shape}: it needs {needed}"
        )


def _advice(spec: InputSpec, count: int) -> str:
    """Return advice for an input that lacks one axis, or ''."""
    if count != spec.min_axes - 1:
        return ""
    missing = ["for a batch of one, write x[None]"] if spec.axes.startswith("batch") else []
    if spec.axes.endswith("channels"):
        missing.append("for a single channel, x[..., None]")
    return ": " + "; ".join(missing) if missing else ""
