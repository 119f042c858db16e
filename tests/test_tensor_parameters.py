"""Tensors in the parameters of functions that are made of others: refused where they would lose a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import UnsupportedArgumentError

x = tm.constant([1.0, 2.0, 4.0])

REFUSED: dict[str, Callable[[Any], Any]] = {
    "var": lambda v: np.var(x, ddof=v),
    "std": lambda v: np.std(x, ddof=v),
    "nanvar": lambda v: np.nanvar(x, ddof=v),
    "correction": lambda v: np.std(x, correction=v),
}


@pytest.mark.parametrize("make", [tm.Variable, tm.constant])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, make: Any) -> None:
    """A tracked parameter raises, read before or not, and a plain one is used."""
    v = make(0.5)
    with tm.GradientTape() as tape:
        tape.watch(v)
        with pytest.raises(UnsupportedArgumentError, match="no derivative in"):
            REFUSED[name](v)
        y = REFUSED[name](v.numpy())
    assert np.isfinite(y.numpy())
    assert REFUSED[name](v).numpy() == y.numpy()
