"""Rules of `lstm_steps` and `gru_steps`: one way back through all steps gives the gradients of all arguments.

The results contain what the gates computed, so no step is computed again. On arrays, the way back is a single call. On
tensors, which higher orders need, it's made of operations that tapes record, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.operations.recurrence import gru_steps, lstm_steps
from tapemagic.engine.registry import vjp_argnums
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tracing import one_call

Function = Callable[..., Any]


def _parts(y: Any, count: int) -> list[Any]:
    """Return equal parts of the last axis."""
    n = y.shape[-1] // count
    return [y[..., k * n : (k + 1) * n] for k in range(count)]


def _before(y: Any, first: Any) -> Any:
    """Return the values before each step: the first, and those after all steps but the last."""
    return np.concatenate([first[None], y[:-1]])


def _transposed(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


def _of_kernel(before: Any, slopes: Any) -> Any:
    """Return the gradient of a kernel from the states before each step, and the gradients of their products."""
    units, width = before.shape[-1], slopes.shape[-1]
    rows = slopes.reshape((*slopes.shape[:-3], -1, width))
    return _transposed(before.reshape((-1, units))) @ rows


def _lstm_slopes(g: Any, y: Any, kernel: Any, cell: Any) -> Any:
    """Return the gradients of x for all steps, and in the last columns those of the cell before each step."""
    h_bar, c_bar, *gates_bar = _parts(g, 6)
    _, c, i, f, new, o = _parts(y, 6)
    known = np.tanh(c)
    slopes = [i * (1 - i), f * (1 - f), 1 - new * new, o * (1 - o)]
    of_cell = [new * slopes[0], _before(c, cell) * slopes[1], i * slopes[2]]
    of_state = known * slopes[3]
    inward = o * (1 - known * known)
    direct = [bar * slope for bar, slope in zip(gates_bar, slopes, strict=True)]
    back = _transposed(kernel)
    later_h: Any = 0
    later_c: Any = 0
    rows = []
    for t in range(y.shape[-3])[::-1]:
        at = (..., t, slice(None), slice(None))
        d_h = h_bar[at] + later_h
        d_c = c_bar[at] + later_c + d_h * inward[t]
        parts = [d_c * factor[t] + own[at] for factor, own in zip(of_cell, direct, strict=False)]
        parts.append(d_h * of_state[t] + direct[3][at])
        row = np.concatenate(parts, -1)
        later_h, later_c = row @ back, d_c * f[t]
        rows.append(np.concatenate([row, later_c], -1))
    return np.stack(rows[::-1], -3)


def _gru_slopes(g: Any, y: Any, kernel: Any, state: Any) -> Any:
    """Return the gradients of x for all steps, and in the last columns those of the state before each step."""
    h_bar, z_bar, r_bar, new_bar, inner_bar = _parts(g, 5)
    h, z, r, new, inner = _parts(y, 5)
    before = _before(h, state)
    slope_z, slope_r, slope_new = z * (1 - z), r * (1 - r), 1 - new * new
    of_z, of_new = (before - new) * slope_z, (1 - z) * slope_new
    of_r = inner * slope_r
    direct_z, direct_r, direct_new = z_bar * slope_z, r_bar * slope_r, new_bar * slope_new
    back = _transposed(kernel)
    later: Any = 0
    rows = []
    for t in range(y.shape[-3])[::-1]:
        at = (..., t, slice(None), slice(None))
        d_h = h_bar[at] + later
        d_new = d_h * of_new[t] + direct_new[at]
        d_z = d_h * of_z[t] + direct_z[at]
        d_r = d_new * of_r[t] + direct_r[at]
        d_inner = np.concatenate([d_z, d_r, d_new * r[t] + inner_bar[at]], -1)
        later = d_h * z[t] + d_inner @ back
        rows.append(np.concatenate([d_z, d_r, d_new, later], -1))
    return np.stack(rows[::-1], -3)


_LSTM_ON_ARRAYS = one_call(_lstm_slopes)
_GRU_ON_ARRAYS = one_call(_gru_slopes)


def _computed(on_tensors: Function, on_arrays: Function, *args: Any) -> Any:
    return (on_tensors if any(isinstance(x, Traced) for x in args) else on_arrays)(*args)


def _lstm(
    argnums: Sequence[int], g: Any, y: Any, _x: Any, kernel: Any, state: Any, cell: Any
) -> list[Any]:
    back = _computed(_lstm_slopes, _LSTM_ON_ARRAYS, g, y, kernel, cell)
    width = kernel.shape[-1]
    slopes = back[..., :width]
    gradients = {
        0: lambda: slopes,
        1: lambda: _of_kernel(_before(_parts(y, 6)[0], state), slopes),
        2: lambda: slopes[..., 0, :, :] @ _transposed(kernel),
        3: lambda: back[..., 0, :, width:],
    }
    return [gradients[position]() for position in argnums]


def _gru(
    argnums: Sequence[int], g: Any, y: Any, _x: Any, kernel: Any, _bias: Any, state: Any
) -> list[Any]:
    back = _computed(_gru_slopes, _GRU_ON_ARRAYS, g, y, kernel, state)
    width = kernel.shape[-1]
    n = width // 3
    slopes = back[..., :width]
    h, _, r, _, _ = _parts(y, 5)
    # To the part of the candidate that r multiplies, besides what comes from y itself.
    inner = np.concatenate([slopes[..., : 2 * n], slopes[..., 2 * n :] * r + _parts(g, 5)[4]], -1)
    gradients = {
        0: lambda: slopes,
        1: lambda: _of_kernel(_before(h, state), inner),
        2: lambda: inner.sum((-3, -2)),
        3: lambda: back[..., 0, :, width:],
    }
    return [gradients[position]() for position in argnums]


vjp_argnums(lstm_steps, _lstm)
vjp_argnums(gru_steps, _gru)
