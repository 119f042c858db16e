"""Operations with matrices and images in PyTorch, with NumPy's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional as nn

from benchmarks.crosscheck.programs import Function
from benchmarks.crosscheck.torch_moves import pad


def dot(a: Any, b: Any) -> Any:
    """The last axis of the first factor with the last but one of the second."""
    if not a.ndim or not b.ndim:
        return a * b
    return torch.tensordot(a, b, dims=([a.ndim - 1], [max(b.ndim - 2, 0)]))


def solve(a: Any, b: Any) -> Any:
    """Stacks of matrices b get as many axes as a, since PyTorch might take them for vectors."""
    if 1 < b.ndim < a.ndim:
        b = b.reshape((1,) * (a.ndim - b.ndim) + tuple(b.shape))
    return torch.linalg.solve(a, b)


def hermitian(a: Any) -> Any:
    """A matrix that is its own adjoint."""
    return a + a.mH


def root(a: Any) -> Any:
    """The triangular root of a positive matrix."""
    return torch.linalg.cholesky(hermitian(a) + 3.0 * torch.eye(a.shape[-1]))


def spectral(a: Any) -> Any:
    """A function of a Hermitian matrix."""
    w, v = torch.linalg.eigh(hermitian(a))
    return (v * torch.sin(w)[..., None, :]) @ v.mH


def singular(a: Any) -> Any:
    """A function of singular values."""
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    return (u * torch.tanh(s)[..., None, :]) @ vh


def orthogonal(a: Any) -> Any:
    """The orthogonal factor for which the other one has positive diagonals."""
    q, r = torch.linalg.qr(a)
    return q * torch.sgn(torch.diagonal(r, dim1=-2, dim2=-1))[..., None, :]


def general(a: Any) -> Any:
    """A function of a matrix with eigenvalues that differ; real, if the matrix is."""
    w, v = torch.linalg.eig(a)
    y = (v * torch.exp(w)[..., None, :]) @ torch.linalg.inv(v)
    return y if a.is_complex() else y.real


def lstsq(a: Any, b: Any) -> Any:
    """Several right-hand sides, or a single one."""
    if b.ndim > 1:
        return torch.linalg.lstsq(a, b).solution
    return torch.linalg.lstsq(a, b[:, None]).solution[:, 0]


def condition(a: Any, p: Any) -> Any:
    """As it is defined for the Frobenius norm, where PyTorch's own gradient fails."""
    if p == "fro":
        return torch.linalg.matrix_norm(a) * torch.linalg.matrix_norm(torch.linalg.inv(a))
    return torch.linalg.cond(a, p)


def transform(name: str) -> Function:
    """A Fourier transform."""
    function = getattr(torch.fft, name)
    return lambda a, n=None, axis=-1, norm=None: function(a, n=n, dim=axis, norm=norm)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """One of them times a matrix of the other one, shifted."""
    n, m = len(a), len(v)
    shift = np.arange(n + m - 1) - np.arange(n)[:, None]
    inside = torch.as_tensor((shift >= 0) & (shift < m))
    full = a @ torch.where(inside, v[torch.as_tensor(shift.clip(0, m - 1))], 0.0)
    long, short = max(n, m), min(n, m)
    start, length = {
        "full": (0, n + m - 1),
        "same": ((short - 1) // 2, long),
        "valid": (short - 1, long - short + 1),
    }[mode]
    return full[start : start + length]


def conv2d(x: Any, kernel: Any, strides: int, padding: str) -> Any:
    """Channels come second in PyTorch, and zeros are put around evenly."""
    if padding == "SAME":
        missing = [
            max((-(-n // strides) - 1) * strides + k - n, 0)
            for n, k in zip(x.shape[1:3], kernel.shape[:2], strict=True)
        ]
        around = [(m // 2, m - m // 2) for m in missing]
        x = pad(x, [(0, 0), *around, (0, 0)])
    y = nn.conv2d(x.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1).contiguous(), stride=strides)
    return y.permute(0, 2, 3, 1)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    """Of vectors or matrices."""
    return torch.linalg.norm(x, ord, axis, keepdim=keepdims)
