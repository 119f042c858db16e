"""Names of the constants in a recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.explain.formatting import derivative_symbol
from tapemagic.explain.lazy_values import has_numbers, token
from tapemagic.report.subject import Role, Subject


class ConstantNames:
    """The names and roles of values that are not on the tape.

    Parameters
    ----------
    subject : Subject

    Attributes
    ----------
    untracked : dict of int to (str, str)
        The names and roles of sources and targets that are not on the tape, by the identity of their arrays.
    """

    def __init__(self, subject: Subject) -> None:
        whole, versions = subject.whole, subject.split.versions
        self._given = subject.given_to_layers
        both = [*subject.sources, *subject.targets]
        self.untracked: dict[int, tuple[str, Role]] = {
            id(unwrap(x)): (name, subject.roles.get(id_of(x), "watched"))
            for name, x in both
            if id_of(x) not in versions and not whole.tracks(id_of(x))
        }
        self._arrays = [
            (name, unwrap(value) if isinstance(value, Traced) else value)
            for name, value in subject.context.named
            if not (isinstance(value, Traced) and whole.tracks(id_of(value)))
        ]
        self._seeds = {
            id(array): _seed_name(subject.known_names.get(i, ""), array)
            for array, i in whole.origins.seeds
        }

    def of(self, value: Any) -> tuple[str, Role]:
        """The name and the role of a value that is not on the tape."""
        if id(value) in self.untracked:
            return self.untracked[id(value)]
        return self._name(value), "constant"

    def _name(self, value: Any) -> str:
        """The name of a constant: that of a seed, of the same array, or of the only equal one; else empty.

        A record holds a copy of an array that the program may change, which can be known by its elements alone. So can
        what a layer was given, once it is cast to the layer's dtype. Integers, and numbers with several names, have no
        name.
        """
        if id(value) in self._seeds:
            return self._seeds[id(value)]
        if isinstance(value, int):
            return ""
        same = [name for name, array in self._arrays if array is value]
        if same:
            return same[0] if np.shape(value) or len(same) == 1 else ""
        is_given = id(value) in self._given
        equal = {
            id(array): name
            for name, array in reversed(self._arrays)
            if _equal(array, value) or (is_given and _equal_when_cast(array, value))
        }
        return equal.popitem()[1] if len(equal) == 1 else ""


def _seed_name(target: str, seed: Any) -> str:
    """The name dy/dy of the seed of a reverse sweep, if that is 1; empty otherwise."""
    return (
        derivative_symbol(target, target, 1)
        if target and has_numbers(seed) and np.all(seed == 1)
        else ""
    )


def _equal(array: Any, value: Any) -> bool:
    """Whether two arrays with axes have the same shape, dtype and, where both hold values, elements."""
    shape = np.shape(value)
    if not shape or np.shape(array) != shape or array.dtype != value.dtype:
        return False
    if is_lazy(array) or is_lazy(value):
        return is_lazy(array) and is_lazy(value) and token(array) == token(value)
    return isinstance(value, Absent) or np.array_equal(array, value, equal_nan=True)


def _equal_when_cast(array: Any, value: Any) -> bool:
    """Whether an array of real numbers has the elements of another one when it is cast to its dtype."""
    if not isinstance(array, np.ndarray) or array.shape != np.shape(value):
        return False
    both_real = array.dtype.kind == value.dtype.kind == "f"
    return both_real and _equal(array.astype(value.dtype), value)
