"""scatter_add: the gradient of indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine import registry
from tapemagic.engine.operations.common import operand
from tapemagic.engine.tensor.dispatch import recorded
from tapemagic.engine.tensor.tensor import Traced, unwrap, unwrap_index

UNIQUE = (int, slice, type(None), type(Ellipsis), np.integer, np.bool_)
"""Types of the parts of an index that cannot select an element twice; a boolean array cannot either."""


def scatter_add(values: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Zeros with values added at an index: the transpose of indexing, ``x[index]``.

    Parameters
    ----------
    values : array_like or Tensor
        What to add; broadcast to the shape of ``np.zeros(shape)[index]``.
    index : int, slice, None, Ellipsis, array_like, or tuple of them
        Any index that NumPy knows. Where it names an element several times, all its values
        are added up.
    shape : tuple of int
        The shape of the result.

    Returns
    -------
    array or Tensor
        Of the dtype of `values`; a tensor, on the tape, if `values` is one.

    Raises
    ------
    IndexError
        If `index` does not fit into `shape`.
    ValueError
        If `values` do not fit the index.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.engine.operations.scatter import scatter_add
    >>> scatter_add(np.array([1.0, 2.0, 3.0]), [0, 2, 2], (4,))
    array([1., 0., 5., 0.])
    """
    if isinstance(values, Traced):
        x, index = values._read(), unwrap_index(index)
        total = scatter_add(x._value, index, shape)
        return recorded(_SCATTER_ADD, x._value, x._id, {"index": index, "shape": shape}, total)
    try:
        total = np.zeros(shape, values.dtype)
    except AttributeError:
        return scatter_add(operand(values), index, shape)
    if _names_once(index):
        total[index] = values
    else:
        np.add.at(total, unwrap(index), values)
    return total if shape else total[()]


_SCATTER_ADD = registry.operation(scatter_add)


def _names_once(index: Any) -> bool:
    """Whether an index certainly selects no element twice, so that assigning does for adding."""
    if index.__class__ is slice:
        return True
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(part, UNIQUE) or np.asarray(part).dtype == np.bool_ for part in parts)
