"""The gradient of one input of an operation as an operation of its own, which lazy arrays compute in chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import require_computed
from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.registry import vjp_argnums
from tapemagic.engine.tape.sweep import fit
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Tensor


@primitive
def input_gradient(
    *values: Any,
    rule: Callable[..., Any],
    joint: bool,
    position: int,
    params: dict[str, Any],
    results: int,
    name: str,
) -> Any:
    """The gradient of one input of an operation by its rule, in the shape and dtype of that input.

    Parameters
    ----------
    *values : array
        The gradients of the results, the results, and the inputs.
    rule : callable
        That of the input, or of all inputs if `joint`.
    joint : bool
    position : int
        The place of the input among the inputs.
    params : dict
        What the rule is given by keyword.
    results : int
        The number of results, which the rule is given in tuples; 0 for one without.
    name : str
        What messages call the operation.
    """
    count = results or 1
    x = values[2 * count + position]
    g, y = values[:count], values[count : 2 * count]
    arguments = (*((g, y) if results else (*g, *y)), *values[2 * count :])
    found = rule((position,), *arguments, **params)[0] if joint else rule(*arguments, **params)
    if found is None:
        return np.zeros(np.shape(x), x.dtype)[()]
    return fit(dense(found), x, name, position)


by_rule = input_gradient.__wrapped__  # type: ignore[attr-defined]
"""The same function, not as an operation: of tensors, tapes record what the rule does."""


def _gradients(argnums, g, _y, *values, rule, joint, position, params, results, name):  # type: ignore[no-untyped-def]
    """The derivatives of the rule, by a tape over it."""
    for x in (g, *values):
        require_computed(x, "the derivative of a rule")
    tensors = [as_tensor(x) if k in argnums else x for k, x in enumerate(values)]
    wanted = [tensors[k] for k in argnums]
    with Tape() as tape:
        tape.watch(wanted)
        dx = by_rule(
            *tensors,
            rule=rule,
            joint=joint,
            position=position,
            params=params,
            results=results,
            name=name,
        )
    if not isinstance(dx, Tensor):
        return [None] * len(wanted)
    found = tape.gradient(dx, wanted, output_gradients=np.conj(as_tensor(g)))
    return [None if part is None else np.conj(part) for part in found]


def as_tensor(x: Any) -> Tensor:
    """An array as a tensor."""
    return x if isinstance(x, Tensor) else Tensor(x)


vjp_argnums(input_gradient, _gradients)
