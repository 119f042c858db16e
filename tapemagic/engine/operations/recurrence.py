"""The steps of an LSTM or a GRU as a single operation, with the activations tanh and sigmoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.primitive import primitive


@primitive
def lstm_steps(x: Any, kernel: Any, state: Any, cell: Any) -> Any:
    """Compute all steps of an LSTM.

    Parameters
    ----------
    x : array, shape (steps, batch, 4 * units)
        The inputs times their kernel, plus the bias, for the gates i and f, the candidate c, and the gate o.
    kernel : array, shape (units, 4 * units)
        Of the previous state.
    state, cell : arrays, shape (batch, units)
        Before the first step.

    Returns
    -------
    array, shape (steps, batch, 6 * units)
        For each step the state, the cell, and the values of i, f, c and o, which the gradient needs.
    """
    steps, batch, width = x.shape
    n = width // 4
    dtype = np.result_type(x, kernel, state, cell)
    y = np.empty((steps, batch, 6 * n), dtype)
    candidate, product = np.empty((batch, n), dtype), np.empty((batch, n), dtype)
    for t in range(steps):
        h, c, gates = y[t, :, :n], y[t, :, n : 2 * n], y[t, :, 2 * n :]
        np.matmul(state, kernel, out=gates)
        gates += x[t]
        i, f, new, o = (gates[:, k * n : (k + 1) * n] for k in range(4))
        # One call for all gates; that for the candidate's columns is overwritten.
        np.tanh(new, out=candidate)
        _sigmoid(gates)
        new[...] = candidate
        np.multiply(f, cell, out=c)
        c += np.multiply(i, candidate, out=product)
        np.tanh(c, out=h)
        h *= o
        state, cell = h, c
    return y


@primitive
def gru_steps(x: Any, kernel: Any, bias: Any, state: Any) -> Any:
    """Compute all steps of a GRU whose reset gate comes after the product with the state.

    Parameters
    ----------
    x : array, shape (steps, batch, 3 * units)
        The inputs times their kernel, plus their bias, for the gates z and r, and the candidate.
    kernel : array, shape (units, 3 * units)
        Of the previous state.
    bias : array, shape (3 * units,)
        Added to the product with the previous state.
    state : array, shape (batch, units)
        Before the first step.

    Returns
    -------
    array, shape (steps, batch, 5 * units)
        For each step the state, the values of z, r and the candidate, and the part of the candidate that r multiplies.
    """
    steps, batch, width = x.shape
    n = width // 3
    dtype = np.result_type(x, kernel, bias, state)
    y = np.empty((steps, batch, 5 * n), dtype)
    inner = np.empty((batch, width), dtype)
    for t in range(steps):
        h, gates, new = y[t, :, :n], y[t, :, n : 3 * n], y[t, :, 3 * n : 4 * n]
        np.matmul(state, kernel, out=inner)
        inner += bias
        np.add(x[t, :, : 2 * n], inner[:, : 2 * n], out=gates)
        _sigmoid(gates)
        z, r = gates[:, :n], gates[:, n:]
        y[t, :, 4 * n :] = inner[:, 2 * n :]
        np.multiply(r, inner[:, 2 * n :], out=new)
        new += x[t, :, 2 * n :]
        np.tanh(new, out=new)
        np.subtract(state, new, out=h)
        h *= z
        h += new
        state = h
    return y


def _sigmoid(x: Any) -> None:
    """Replace the elements of an array by their logistic function, computed as `sigmoid` does."""
    np.negative(x, out=x)
    # exp(-x) may overflow to inf, whose reciprocal is the exact limit 0.
    with np.errstate(over="ignore"):
        np.exp(x, out=x)
    x += 1
    np.reciprocal(x, out=x)
