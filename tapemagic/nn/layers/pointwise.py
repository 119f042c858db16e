"""Base class of layers whose output has the shape of their input."""

from __future__ import annotations

from typing import Any

from tapemagic.nn.layer import Layer


class Pointwise(Layer):
    """A layer whose output has the shape of its input."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        if not isinstance(input_shape, list):
            self._require_shape(tuple(input_shape))
        return tuple(input_shape)
