"""Origin of a nan or infinite loss or gradient, found by running the training step again under an observer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.recording import silence
from tapemagic.engine.tape.observer import Observer, Site
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.explain.formatting import format_value
from tapemagic.explain.nonfinite import NonFinite, first_nonfinite, first_nonfinite_gradient
from tapemagic.explain.snapshot import snapshot_of
from tapemagic.nn.models.batches import unpack_x_y_sample_weight
from tapemagic.nn.symbolic import calls

_CAUSES = {
    "0/0": "which is 0/0",
    "division by zero": "a division by zero or similar",
    "overflow": "more than the dtype can hold",
    "outside the domain": "outside of its domain",
    "infinite derivative": "where its derivative is infinite",
    "undefined": "which is undefined",
}


def explained(model: Any, data: Any, loss: Any, variable: Any) -> tuple[str, int | None]:
    """Explain where the loss, or the gradient of a variable, first became nan or infinite.

    - `model`: In its state from before the step.
    - `data`: The batch.
    - `loss`: The loss of the step.
    - `variable`: A variable whose gradient is nan or infinite although the loss is finite.

    Returns
    -------
    str, int or None
        The explanation, and the row of the data if the data is the cause.
    """
    if variable is None:
        start = f"the loss is {format_value(loss)}."
    else:
        start = f"the gradient of {variable.name!r} is nan or infinite, though the loss is {format_value(loss)}."
    # In order of probability and cost: bad data, then bad weights, and only then a second run under an observer.
    named = zip(("x", "y", "sample_weight"), unpack_x_y_sample_weight(data), strict=True)
    for name, structure in named:
        for element, index in _bad_elements(name, structure):
            return f"{start} The data of this batch is the cause: {element}.", index[0]
    return f"{start} {_origin(model, data, variable is not None)}", None


def _origin(model: Any, data: Any, backward: bool) -> str:
    for variable in model.variables:
        for element, _ in _bad_elements(repr(variable.name), variable):
            return f"A weight was already nan or infinite: {element}."
    origin, layer = _run_again(model, data, backward)
    if origin is None:
        return "A second run of the step gave finite values, so it depends on random numbers or on a state."
    where = f"in the layer {layer!r}" if layer else "in the loss"
    at = f" at {list(origin.index)}" if origin.index else ""
    if origin.cause == "input":
        return f"It first appears {where}: {origin.operation} received {origin.result}{at}."
    operands = " and ".join(origin.operands)
    cause = _CAUSES[origin.cause]
    if origin.way == "backward":
        return f"It arose {where}: the derivative of {origin.operation}({operands}) gave {origin.result}{at}, {cause}."
    return f"It arose {where}: {origin.operation} of {operands} gave {origin.result}{at}, {cause}."


def _bad_elements(name: str, structure: Any) -> Iterator[tuple[str, list[int]]]:
    """Yield the first nan or infinite element of each array, as text, with its index."""
    parts = [] if structure is None else leaves(structure)
    for number, part in enumerate(parts):
        array = np.asarray(unwrap(part))
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            index = np.argwhere(~np.isfinite(array))[0].tolist()
            label = name if len(parts) == 1 else f"{name}, array {number},"
            yield f"{label} is {format_value(array[tuple(index)])} at {index}", index


def _run_again(model: Any, data: Any, backward: bool) -> tuple[NonFinite | None, str | None]:
    """Repeat a step; return its first nan or infinite value or gradient, and the name of the layer it's from."""
    layers: list[str | None] = []

    # The observer calls this for each operation, so the layer in progress is known for each record.
    def where() -> tuple[int | None, int, int, int]:
        layers.append(calls.stack[-1][0].name if calls.stack else None)
        return Site()

    x, y, sample_weight = unpack_x_y_sample_weight(data)
    observer = Observer(where)
    # NumPy's warnings were shown in the first run already.
    with silence(), np.errstate(all="ignore"):
        with observer:
            for part in (x, y, sample_weight):
                for tensor in [] if part is None else leaves(part):
                    if isinstance(tensor, Traced) and tensor.dtype.kind == "f":
                        observer.watch(tensor)
            y_pred = model(x, training=True)
            loss = model.compute_loss(x, y, y_pred, sample_weight)
        snapshot = snapshot_of(observer)
        origin = first_nonfinite_gradient(snapshot, loss) if backward else first_nonfinite(snapshot)
    return origin, (layers[origin.record] if origin else None)
