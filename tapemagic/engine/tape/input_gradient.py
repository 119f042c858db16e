"""The gradient of an input as a separate operation, which lazy arrays compute chunk by chunk."""

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
    """Compute the gradient of an input of an operation by its rule, in the input's shape and dtype.

    - `*values`: The gradients of the results, the results, and the inputs.
    - `rule`: The rule of the input, or of all inputs if `joint`.
    - `position`: The position of the input among the inputs.
    - `params`: The keyword arguments of the rule.
    - `results`: The number of results if the operation returns a tuple, which the rule then receives, else 0.
    - `name`: The name of the operation in messages.
    """
    count = results or 1
    x = values[2 * count + position]
    g, y = values[:count], values[count : 2 * count]
    arguments = (*((g, y) if results else (*g, *y)), *values[2 * count :])
    dx = rule((position,), *arguments, **params)[0] if joint else rule(*arguments, **params)
    if dx is None:
        return np.zeros(np.shape(x), x.dtype)[()]
    # In a chunk, there is no sweep that adds up scattered gradients.
    return fit(dense(dx), x, name, position)


by_rule = input_gradient.__wrapped__  # type: ignore[attr-defined]
"""`input_gradient` as a plain function: on tensors, tapes record what the rule computes."""


def _gradients(argnums, g, _y, *values, rule, joint, position, params, results, name):  # type: ignore[no-untyped-def]
    """Return the derivatives of the rule, computed by a tape."""
    for x in (g, *values):
        require_computed(x, "the derivative of a rule")
    tensors = [as_tensor(x) if k in argnums else x for k, x in enumerate(values)]
    sources = [tensors[k] for k in argnums]
    with Tape() as tape:
        tape.watch(sources)
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
        return [None] * len(sources)
    grads = tape.gradient(dx, sources, output_gradients=np.conj(as_tensor(g)))
    return [None if part is None else np.conj(part) for part in grads]


def as_tensor(x: Any) -> Tensor:
    """Convert an array to a tensor."""
    return x if isinstance(x, Tensor) else Tensor(x)


vjp_argnums(input_gradient, _gradients)
