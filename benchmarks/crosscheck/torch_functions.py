"""The operations of programs in PyTorch, with NumPy's arguments."""
# ruff: noqa: PLW0108 (a step gives its parameters by keyword)

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as nn

from benchmarks.crosscheck import torch_matrices as matrices
from benchmarks.crosscheck.functions import OPERATORS
from benchmarks.crosscheck.programs import Function
from benchmarks.crosscheck.torch_moves import (
    REARRANGING,
    gathered,
    pad,
    places_of,
    rearranging,
)

RENAMED = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow", "power": "pow",
    "conjugate": "conj_physical", "sign": "sgn",
}  # fmt: skip


def dims(x: Any, axis: Any) -> tuple[int, ...]:
    """The axes that NumPy's `axis` names."""
    if axis is None:
        return tuple(range(x.ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def reduction(function: Function) -> Function:
    """A reduction over several axes, with NumPy's keywords."""
    return lambda x, axis=None, keepdims=False, **params: function(
        x, dim=dims(x, axis), keepdim=keepdims, **params
    )


def product(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """One axis after the other, since PyTorch takes one at a time."""
    for one in sorted((axis % x.ndim for axis in dims(x, axis)), reverse=True):
        x = torch.prod(x, one, keepdim=keepdims)
    return x


def spread(function: Function) -> Function:
    """A variance or deviation."""
    return lambda x, axis=None, keepdims=False, ddof=0: function(
        x, dim=dims(x, axis), keepdim=keepdims, correction=ddof
    )


def ranking(q: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """A quantile on one axis, or of everything."""
    if axis is None:
        found = torch.quantile(x.reshape(-1), q)
        return found.reshape((1,) * x.ndim) if keepdims else found
    return torch.quantile(x, q, dim=axis, keepdim=keepdims)


def select(x: Any, y: Any, z: Any, conditions: Any) -> Any:
    """One where after another."""
    first, second = map(torch.tensor, conditions)
    return where(first, x, where(second, y, z))


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """The line through the corners on both sides."""
    k = (torch.searchsorted(xp, x.detach().contiguous()) - 1).clamp(0, len(xp) - 2)
    share = (x - xp[k]) / (xp[k + 1] - xp[k])
    return fp[k] + share * (fp[k + 1] - fp[k])


def polyval(p: Any, x: Any) -> Any:
    """Horner's scheme."""
    y = torch.zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


def average(x: Any, weights: Any, axis: Any) -> Any:
    """The weighted sum, over that of the weights."""
    return (x * weights).sum(dims(x, axis)) / weights.sum(dims(x, axis))


def promoted(function: Function) -> Function:
    """A function whose arguments have to be of one kind, for real and complex ones together."""

    def call(*tensors: Any, **params: Any) -> Any:
        kind = torch.complex128 if any(x.is_complex() for x in tensors) else torch.float64
        return function(*(x.to(kind) for x in tensors), **params)

    return call


def where(condition: Any, x: Any, y: Any) -> Any:
    """A choice between values of one kind or two."""
    return promoted(partial(torch.where, condition))(x, y)


def stacked(name: str) -> Function:
    """A function of a list, for separate arguments."""
    function = getattr(torch, name)
    return promoted(lambda *xs: function(xs))


PROMOTED: dict[str, Function] = {
    "@": torch.matmul,
    "matmul": torch.matmul,
    "tensordot": lambda a, b, axes: torch.tensordot(a, b, dims=axes),
    "einsum": lambda *xs, subscripts: torch.einsum(subscripts, *xs),
    "outer": lambda a, b: torch.outer(a.reshape(-1), b.reshape(-1)),
    "dot": matrices.dot,
    "inner": lambda a, b: torch.tensordot(a, b, dims=([a.ndim - 1], [b.ndim - 1])),
    "vdot": lambda a, b: torch.vdot(a.reshape(-1), b.reshape(-1)),
    "kron": lambda a, b: torch.kron(a.contiguous(), b.contiguous()),
    "multi_dot": lambda *xs: torch.linalg.multi_dot(xs),
    "linalg.solve": matrices.solve,
    "lstsq": matrices.lstsq,
    "concatenate": lambda *xs, axis: torch.cat(xs, axis),
    "stack": lambda *xs, axis: torch.stack(xs, axis),
}


NEURAL: dict[str, Function] = {
    "conv2d": matrices.conv2d,
    "elu": lambda x, alpha: nn.elu(x, alpha),
    "erf": torch.erf,
    "erfc": torch.erfc,
    "gelu": lambda x, approximate: nn.gelu(x, approximate="tanh" if approximate else "none"),
    "leaky_relu": lambda x, alpha: nn.leaky_relu(x, alpha),
    "log_sigmoid": nn.logsigmoid,
    "log_softmax": lambda x, axis: nn.log_softmax(x, axis),
    "logsumexp": reduction(torch.logsumexp),
    "relu": nn.relu,
    "relu6": nn.relu6,
    "selu": nn.selu,
    "sigmoid": torch.sigmoid,
    "silu": nn.silu,
    "softmax": lambda x, axis: nn.softmax(x, axis),
    "softplus": nn.softplus,
    "softsign": nn.softsign,
}


class TorchFunctions(dict[str, Function]):
    """The table; elementwise functions are found under their names."""

    def __missing__(self, name: str) -> Function:
        function: Function = getattr(torch, RENAMED.get(name, name))
        self[name] = function
        return function


FUNCTIONS = TorchFunctions(
    {name: rearranging(name) for name in REARRANGING}
    | {name: promoted(function) for name, function in PROMOTED.items()}
    | {f"nn.{name}": function for name, function in NEURAL.items()}
    | {
        "constant": lambda value: torch.tensor(value),
        **OPERATORS,
        "item": lambda x, index: gathered(x, places_of(x)[index]),
        "cbrt": lambda x: x ** (1 / 3),
        "clip": torch.clamp,
        "where_greater": lambda a, b, x, y: where(a > b, x, y),
        "select": select,
        "interp": interp,
        "polyval": polyval,
        "average": average,
        "general": matrices.general,
        **{name: stacked(name) for name in ("vstack", "hstack", "dstack", "column_stack")},
        "sum": reduction(torch.sum),
        "mean": reduction(torch.mean),
        "max": reduction(torch.amax),
        "min": reduction(torch.amin),
        "ptp": lambda x, axis=None: torch.amax(x, dims(x, axis)) - torch.amin(x, dims(x, axis)),
        "prod": product,
        "var": spread(torch.var),
        "std": spread(torch.std),
        "median": lambda x, axis=None, keepdims=False: ranking(0.5, x, axis, keepdims),
        "quantile": lambda x, q, axis=None, keepdims=False: ranking(q, x, axis, keepdims),
        "cumsum": lambda x, axis: torch.cumsum(x, axis),
        "cumprod": lambda x, axis: torch.cumprod(x, axis),
        "diff": lambda x, n, axis: torch.diff(x, n, axis),
        "gradient": lambda x, axis: torch.gradient(x, dim=axis)[0],
        "trapezoid": lambda y, dx, axis: torch.trapezoid(y, dx=dx, dim=axis),
        "sort": lambda x, axis: torch.sort(x, dim=axis, stable=True).values,
        "split": lambda x, cuts, axis: tuple(
            gathered(x, part) for part in np.split(places_of(x), cuts, axis)
        ),
        "pad": pad,
        "tril": lambda x, k: torch.tril(x, k),
        "triu": lambda x, k: torch.triu(x, k),
        "trace": lambda x, offset: gathered(x, np.diagonal(places_of(x), offset)).sum(-1),
        "vecdot": torch.linalg.vecdot,
        "cross": torch.linalg.cross,
        "convolve": matrices.convolve,
        "linalg.norm": matrices.norm,
        "linalg.cond": matrices.condition,
        "logdet": lambda a: torch.linalg.slogdet(a)[1],
        "spectral": matrices.spectral,
        "eigenvalues": lambda a: torch.linalg.eigvalsh(matrices.hermitian(a)),
        "root": matrices.root,
        "singular": matrices.singular,
        "orthogonal": matrices.orthogonal,
        "fft.fft2": torch.fft.fft2,
    }
    | {
        f"linalg.{name}": getattr(torch.linalg, name)
        for name in (
            "inv", "det", "svdvals", "pinv", "matrix_power",
        )
    }
    | {f"fft.{name}": matrices.transform(name) for name in ("fft", "ifft", "rfft", "irfft")}
)  # fmt: skip
