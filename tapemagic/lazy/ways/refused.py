"""Functions that need the numbers of an array before their result has a shape, or at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.ways.table import way


@way(
    np.real_if_close,
    np.nonzero,
    np.flatnonzero,
    np.argwhere,
    np.unique,
    np.unique_values,
    np.unique_all,
    np.unique_counts,
    np.unique_inverse,
    np.intersect1d,
    np.union1d,
    np.setdiff1d,
    np.setxor1d,
    np.trim_zeros,
    np.roots,
)
def nonzero(*args: Any, **_params: Any) -> Any:
    """Refused: the number of elements depends on the numbers."""
    raise UnsupportedArgumentError(
        "what np.nonzero, np.unique and the like give, how many elements or of which dtype, is known only once they "
        "are computed: write x.compute() first, or np.where(mask, x, 0), which keeps the shape"
    )


@way(
    np.save,
    np.savez,
    np.savez_compressed,
    np.savetxt,
    np.array_repr,
    np.array_str,
    np.array2string,
    np.may_share_memory,
    np.shares_memory,
    np.packbits,
    np.unpackbits,
)
def save(*args: Any, **_params: Any) -> Any:
    """Refused: it needs the numbers now."""
    raise UnsupportedArgumentError(
        "writing, showing and packing numbers needs them now, and a lazy array has none: write x.compute() first"
    )
