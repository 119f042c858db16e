"""The operations of programs for every library that speaks NumPy's language: NumPy's own names, and a few more."""
# ruff: noqa: PLW0108 (a step gives its parameters by keyword)

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from benchmarks.crosscheck.programs import Function

OPERATORS: dict[str, Function] = {
    "times": lambda x, by: x * by,
    "plus": lambda x, by: by + x,
    "from": lambda x, by: by - x,
    "over": lambda x, by: by / x,
    "raised": lambda x, by: x**by,
    "part": lambda xs, k: xs[k],
}
"""Operations by Python's operators alone, the same in every library."""


class NumpyLike(dict[str, Function]):
    """The operations in a namespace such as ``numpy``: other names are those of its functions.

    Parameters
    ----------
    xp : namespace
    nn : namespace
        Functions of neural networks, which programs call ``nn.relu`` and the like.
    """

    def __init__(self, xp: Any, nn: Any) -> None:
        super().__init__(special(xp))
        self._xp, self._nn = xp, nn

    def __missing__(self, name: str) -> Function:
        if name.startswith("nn."):
            function = getattr(self._nn, name.removeprefix("nn."))
        else:
            function = operator.attrgetter(name)(self._xp)
        self[name] = function
        return function  # type: ignore[no-any-return]


def special(xp: Any) -> dict[str, Function]:
    """Operations that are operators, take lists, or need several functions to have one answer."""

    def hermitian(a: Any) -> Any:
        """A matrix that is its own adjoint: which half of it functions read does not matter then."""
        return a + xp.conj(xp.swapaxes(a, -1, -2))

    def root(a: Any) -> Any:
        """The triangular root of a positive matrix."""
        return xp.linalg.cholesky(hermitian(a) + 3.0 * np.eye(a.shape[-1]))

    def spectral(a: Any) -> Any:
        """A function of a Hermitian matrix, for which the signs of eigenvectors do not matter."""
        w, v = xp.linalg.eigh(hermitian(a))
        return (v * xp.sin(w)[..., None, :]) @ xp.conj(xp.swapaxes(v, -1, -2))

    def singular(a: Any) -> Any:
        """The same of singular values."""
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        return (u * xp.tanh(s)[..., None, :]) @ vh

    def orthogonal(a: Any) -> Any:
        """The orthogonal factor for which the other one has positive diagonals."""
        q, r = xp.linalg.qr(a)
        return q * xp.sign(xp.diagonal(r, axis1=-2, axis2=-1))[..., None, :]

    def general(a: Any) -> Any:
        """A function of a matrix with eigenvalues that differ; real, if the matrix is."""
        w, v = xp.linalg.eig(a)
        y = (v * xp.exp(w)[..., None, :]) @ xp.linalg.inv(v)
        return y if xp.iscomplexobj(a) else xp.real(y)

    return {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "@": operator.matmul,
        "**": operator.pow,
        "constant": lambda value: xp.asarray(value),
        **OPERATORS,
        "item": lambda x, index: x[index],
        "where_greater": lambda a, b, x, y: xp.where(a > b, x, y),
        "concatenate": lambda *xs, axis: xp.concatenate(xs, axis=axis),
        "stack": lambda *xs, axis: xp.stack(xs, axis=axis),
        "split": lambda x, cuts, axis: tuple(xp.split(x, cuts, axis=axis)),
        "einsum": lambda *xs, subscripts: xp.einsum(subscripts, *xs),
        "multi_dot": lambda *xs: xp.linalg.multi_dot(xs),
        "logdet": lambda a: xp.linalg.slogdet(a)[1],
        "spectral": spectral,
        "eigenvalues": lambda a: xp.linalg.eigvalsh(hermitian(a)),
        "root": root,
        "general": general,
        "vstack": lambda *xs: xp.vstack(xs),
        "hstack": lambda *xs: xp.hstack(xs),
        "dstack": lambda *xs: xp.dstack(xs),
        "column_stack": lambda *xs: xp.column_stack(xs),
        "select": lambda x, y, z, conditions: xp.select(conditions, [x, y], z),
        "average": lambda x, weights, axis: xp.average(x, axis=axis, weights=weights),
        "lstsq": lambda a, b: xp.linalg.lstsq(a, b)[0],
        "singular": singular,
        "orthogonal": orthogonal,
    }
