"""Operations that move elements, in PyTorch."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import torch

from benchmarks.crosscheck.programs import Function

REARRANGING = (
    "take", "take_along_axis", "roll", "flip", "rot90", "repeat", "tile", "diagonal", "reshape",
    "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "ravel", "broadcast_to",
    "fft.fftshift", "fft.ifftshift",
)  # fmt: skip
"""Functions that only move elements: NumPy says where to, on an array of their places."""


def gathered(x: Any, places: Any) -> Any:
    """The elements of x at places that are counted in rows."""
    return x.reshape(-1)[torch.tensor(np.array(places))]


def places_of(x: Any) -> Any:
    """The places of the elements of x."""
    return np.arange(x.numel()).reshape(tuple(x.shape))


def rearranging(name: str) -> Function:
    """The function that moves elements as NumPy's function of a name does."""
    function = operator.attrgetter(name)(np)
    return lambda x, *args, **params: gathered(x, function(places_of(x), *args, **params))


def pad(x: Any, pad_width: Any, mode: str = "constant") -> Any:
    """Zeros come from an element of their own, behind the others."""
    places = places_of(x)
    if mode != "constant":
        return gathered(x, np.pad(places, pad_width, mode=mode))
    padded = np.pad(places, pad_width, constant_values=x.numel())
    return gathered(torch.cat([x.reshape(-1), torch.zeros(1, dtype=x.dtype)]), padded)
