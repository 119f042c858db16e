"""Refuse functions that need an array's numbers, either immediately or for the shape or dtype of their result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import refusal
from tapemagic.engine.tensor.messages import public_name
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.implementations.along import along
from tapemagic.lazy.implementations.blocks import is_lazy, pointwise
from tapemagic.lazy.implementations.table import IMPLEMENTATIONS

COUNTS: tuple[Any, ...] = (
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
"""Functions whose number of results depends on the numbers."""

PLACES = frozenset({np.nonzero, np.flatnonzero, np.argwhere})
"""Functions among `COUNTS` that return indices, which np.where(mask, x, 0) often replaces."""

NEEDING_NUMBERS: tuple[Any, ...] = (
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
"""Functions that write, print or pack numbers."""


def unknown_length(name: str, places: bool = False) -> UnsupportedArgumentError:
    """Build the error for a function whose number of results depends on the numbers."""
    mask = ", or np.where(mask, x, 0), which keeps the shape" if places else ""
    return refusal(
        name,
        f"how many elements {name} gives depends on numbers that are not computed: write x.compute() first{mask}",
    )


def _refuse(error: Callable[[Any], Exception], function: Any) -> None:
    def refuse(*_args: Any, **_params: Any) -> Any:
        raise error(function)

    IMPLEMENTATIONS[function] = refuse


def _needs_numbers(function: Any) -> Exception:
    return UnsupportedArgumentError(
        f"{public_name(function)} needs the numbers at once, and they are not computed: write x.compute() first"
    )


def _unknown_dtype(function: Any) -> Exception:
    return UnsupportedArgumentError(
        f"whether {public_name(function)} gives real or complex numbers depends on numbers that are not computed: "
        "write np.real(x) where they are real, or x.compute() first"
    )


for _function in COUNTS:
    _refuse(lambda f: unknown_length(public_name(f), f in PLACES), _function)
for _function in NEEDING_NUMBERS:
    _refuse(_needs_numbers, _function)
_refuse(_unknown_dtype, np.real_if_close)


def require_complex_input(function: Any, computes: Callable[[Any, Any, Any], Any]) -> None:
    """Refuse real input to a function that returns complex numbers for some real input only."""

    def refuse_real(*args: Any, **kwargs: Any) -> Any:
        arrays = [x for x in (*args, *kwargs.values()) if is_lazy(x) or isinstance(x, np.ndarray)]
        if all(x.dtype.kind != "c" for x in arrays):
            name = public_name(function)
            raise refusal(
                name,
                f"whether {name} of real numbers is real or complex depends on numbers that are not computed: write "
                f"{name}(np.astype(x, complex)), which is complex for all, or x.compute() first",
            )
        return computes(function, args, kwargs)

    IMPLEMENTATIONS[function] = refuse_real


require_complex_input(np.linalg.eig, along)
require_complex_input(np.linalg.eigvals, along)
for _name in ("sqrt", "log", "log2", "log10", "logn", "power", "arccos", "arcsin", "arctanh"):
    require_complex_input(getattr(np.emath, _name), pointwise)
