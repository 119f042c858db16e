"""Functions that need the numbers of an array before their result has a shape or a dtype, or at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import refusal
from tapemagic.engine.tensor.messages import public_name
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.implementations.along import along
from tapemagic.lazy.implementations.blocks import is_lazy, pointwise
from tapemagic.lazy.implementations.table import WAYS

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
"""Functions that give as many elements as the numbers say."""

PLACES = frozenset({np.nonzero, np.flatnonzero, np.argwhere})
"""Those that give the places of elements, which are seldom needed."""

NOW: tuple[Any, ...] = (
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
"""Functions that write, show or pack numbers."""


def counted(name: str, places: bool = False) -> UnsupportedArgumentError:
    """The error for a function whose number of results depends on the numbers."""
    mask = ", or np.where(mask, x, 0), which keeps the shape" if places else ""
    return refusal(
        name,
        f"how many elements {name} gives depends on numbers that are not computed: write x.compute() first{mask}",
    )


def _refused(error: Callable[[Any], Exception], function: Any) -> None:
    def refuse(*_args: Any, **_params: Any) -> Any:
        raise error(function)

    WAYS[function] = refuse


def _needed_now(function: Any) -> Exception:
    return UnsupportedArgumentError(
        f"{public_name(function)} needs the numbers at once, and they are not computed: write x.compute() first"
    )


def _real_or_complex(function: Any) -> Exception:
    return UnsupportedArgumentError(
        f"whether {public_name(function)} gives real or complex numbers depends on numbers that are not computed: "
        "write np.real(x) where they are real, or x.compute() first"
    )


for _function in COUNTS:
    _refused(lambda f: counted(public_name(f), f in PLACES), _function)
for _function in NOW:
    _refused(_needed_now, _function)
_refused(_real_or_complex, np.real_if_close)


def of_complex_numbers(function: Any, computes: Callable[[Any, Any, Any], Any]) -> None:
    """Refuse real arguments of a function that gives complex numbers for some of them, and real ones for others."""

    def way(*args: Any, **kwargs: Any) -> Any:
        given = [x for x in (*args, *kwargs.values()) if is_lazy(x) or isinstance(x, np.ndarray)]
        if all(x.dtype.kind != "c" for x in given):
            name = public_name(function)
            raise refusal(
                name,
                f"whether {name} of real numbers is real or complex depends on numbers that are not computed: write "
                f"{name}(np.astype(x, complex)), which is complex for all, or x.compute() first",
            )
        return computes(function, args, kwargs)

    WAYS[function] = way


of_complex_numbers(np.linalg.eig, along)
of_complex_numbers(np.linalg.eigvals, along)
for _name in ("sqrt", "log", "log2", "log10", "logn", "power", "arccos", "arcsin", "arctanh"):
    of_complex_numbers(getattr(np.emath, _name), pointwise)
