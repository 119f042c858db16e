"""Masks: for each step of sequences whether it counts, attached to the tensors that layers return."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.nn.conversions import as_array

# A table besides the tensors, and not an attribute of these: few programs have masks, and every tensor would carry the
# attribute. Layers look here only if there is an entry.
masks: dict[int, tuple[weakref.ref[Any], list[Any]]] = {}
"""The masks of tensors, each in a list of one, by the `id` of the Python object."""


def mask_of(x: Any) -> Any:
    """Return the mask of a tensor or None, and the masks of a list, tuple or dict in this structure.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> mask_of(nn.Masking()(np.array([[[1.0], [0.0]]])))
    Tensor([[ True, False]])
    """
    if isinstance(x, list | tuple):
        return [mask_of(part) for part in x]
    if isinstance(x, Mapping):
        return {name: mask_of(part) for name, part in x.items()}
    entry = masks.get(id(x))
    # The id may belong to a tensor that is gone, whose entry is about to be removed.
    return entry[1][0] if entry is not None and entry[0]() is x else None


def set_mask(x: Any, mask: Any) -> None:
    """Attach a mask to a tensor."""
    if isinstance(x, Traced) and mask is not None:
        _enter(x, [mask if isinstance(mask, Traced) else constant(mask)])


def remove_mask(x: Any) -> None:
    """Detach the mask from a tensor, and from the tensor that it was converted from."""
    if id(x) in masks:
        masks[id(x)][1][0] = None


def _enter(x: Any, cell: list[Any]) -> None:
    key = id(x)

    def forget(gone: weakref.ref[Any]) -> None:
        # A new tensor of the same id may have replaced the entry already.
        if key in masks and masks[key][0] is gone:
            del masks[key]

    masks[key] = weakref.ref(x, forget), cell


def carried(x: Any, converted: Any) -> Any:
    """Return the tensor to which `x` was converted, with the mask of `x`."""
    if masks and converted is not x and mask_of(x) is not None:
        _enter(converted, masks[id(x)][1])
    return converted


def with_mask(sample_weight: Any, y_pred: Any, dtype: Any, reduction: str | None) -> Any:
    """Return sample weights that are 0 where the mask of predictions is False; without a mask, `sample_weight`.

    For a mean, the other weights are larger, so that it's the mean over all that counts.
    """
    mask = mask_of(y_pred) if masks and isinstance(y_pred, Traced) else None
    if mask is None:
        return sample_weight
    weights = as_array(mask).astype(dtype)
    if reduction in {"mean", "sum_over_batch_size"}:
        weights *= weights.size / max(weights.sum(), 1)
    if sample_weight is None:
        return weights
    own = as_array(sample_weight).astype(dtype)
    if own.ndim == weights.ndim + 1 and own.shape[-1] == 1:
        own = own[..., 0]
    return weights * np.reshape(own, own.shape + (1,) * (weights.ndim - own.ndim))
