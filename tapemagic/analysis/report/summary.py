"""Summary: what a report shows of an array, so that it need not hold the array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tapemagic.analysis.formatting import dtype_name, format_entries, format_value


@dataclass(frozen=True)
class Summary:
    """What a report shows of an array.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
    text : str
        The value in one line, with the shape of a larger array.
    entries : str
        The same without the shape.
    """

    shape: tuple[int, ...]
    dtype: str
    text: str
    entries: str


def summarise(value: Any) -> Summary:
    """The summary of a number or array; a summary as it is."""
    if isinstance(value, Summary):
        return value
    return Summary(np.shape(value), dtype_name(value), format_value(value), format_entries(value))
