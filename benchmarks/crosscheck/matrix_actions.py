"""Actions with matrices: products, linear algebra, Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.crosscheck.actions import action, complex_value
from benchmarks.crosscheck.drafts import Draft, Impossible

# -- products -------------------------------------------------------------------------------------


def fits(a: Any, b: Any) -> bool:
    """Whether two arrays have a matrix product."""
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        return False
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        return False
    return True


@action("matmul", "dot", "inner", "swapaxes", weight=4.0, anywhere=True)
def product(d: Draft) -> int:
    """A matrix product, also of stacks and vectors; with a random matrix if nothing fits."""
    i = d.pick(lambda v: v.ndim > 0)
    a = d.values[i]
    fitting = [j for j, v in enumerate(d.values) if not isinstance(v, tuple) and fits(a, v)]
    j = d.one(fitting) if fitting and d.chance(0.7) else d.normal((a.shape[-1], d.one((1, 2, 3))))
    op = d.one(("@", "@", "matmul", "dot"))
    if op == "dot" and d.values[j].ndim > 1 and d.chance(0.5):
        return d.emit("inner", i, d.emit("swapaxes", j, axis1=-1, axis2=-2))
    return d.emit(op, i, j)


@action("einsum", weight=2.0, anywhere=True)
def einsum(d: Draft) -> int:
    """An Einstein sum of one to three values, with letters that fit their lengths."""
    i = d.pick(lambda v: 0 < v.ndim < 4)
    chosen = [i] + [d.pick(lambda v: v.ndim < 4) for _ in range(int(d.rng.integers(0, 3)))]
    letters: dict[int, list[str]] = {}
    free = iter("ijklmnopqrst")
    terms = []
    for k in chosen:
        word = ""
        for n in d.values[k].shape:
            known = letters.setdefault(n, [])
            if not known or d.chance(0.3):
                known.append(next(free))
            word += d.one(known)
        terms.append(word)
    used = sorted(set("".join(terms)))
    d.rng.shuffle(used)
    output = "".join(letter for letter in used if d.chance(0.5))[:3]
    return d.emit("einsum", *chosen, subscripts=f"{','.join(terms)}->{output}")


@action("tensordot", "outer", "kron", weight=1.5, anywhere=True)
def tensor_product(d: Draft) -> int:
    """Products over some axes, or none."""
    i = d.pick(lambda v: v.ndim > 0)
    a = d.values[i]
    name = d.one(("tensordot", "tensordot", "outer", "kron"))
    if name == "tensordot":
        j = d.pick(lambda v: bool(set(v.shape) & set(a.shape)))
        pairs = [
            (x, y) for x, n in enumerate(a.shape) for y, m in enumerate(d.values[j].shape) if n == m
        ]
        x, y = d.one(pairs)
        return d.emit(name, i, j, axes=([x], [y]))
    return d.emit(name, i, d.pick(lambda v: 0 < v.size * a.size <= 40 and v.ndim == a.ndim))


@action("vdot", "vecdot", "cross", "convolve", weight=1.0)
def vector_product(d: Draft) -> int:
    """Products of vectors."""
    name = d.one(("vdot", "vecdot", "cross", "convolve"))
    if name == "convolve":
        i, j = (d.pick(lambda v: v.ndim == 1 and v.dtype.kind == "f") for _ in range(2))
        return d.emit(name, i, j, mode=d.one(("full", "same", "valid")))
    i = d.pick(lambda v: v.ndim > 0 and (name != "cross" or v.shape[-1] == 3))
    v = d.values[i]
    return d.emit(name, i, d.pick(lambda w: w.shape == v.shape and w.dtype == v.dtype))


@action("nn.conv2d", "reshape", weight=0.5)
def images(d: Draft) -> int:
    """A convolution of images that are made of any value, with a kernel that is one, too."""
    i = d.pick(lambda v: v.dtype.kind == "f" and v.size >= 4)
    size = d.values[i].size
    sides = [(h, size // h) for h in (2, 3, 4, 5) if size % h == 0 and size // h > 1]
    h, w = d.one(sides)
    channels = 2 if w % 2 == 0 and w > 2 else 1
    x = d.emit("reshape", i, shape=(1, h, w // channels, channels))
    area = (d.one((1, 2)), d.one((1, 2)), channels, d.one((1, 2)))
    kernel = d.normal(area)
    fitting = [j for j, v in enumerate(d.values) if j in d.varying and _size(v) == np.prod(area)]
    if fitting:
        kernel = d.emit("reshape", d.one(fitting), shape=area)
    return d.emit("nn.conv2d", x, kernel, strides=d.one((1, 2)), padding=d.one(("VALID", "SAME")))


def _size(value: Any) -> int:
    """The number of a real array's elements."""
    return 0 if isinstance(value, tuple) or value.dtype.kind != "f" else value.size


# -- linear algebra -------------------------------------------------------------------------------


def matrices(d: Draft, real: bool = False) -> int:
    """Square matrices of moderate size, made of any value with two axes or more."""
    i = d.pick(lambda v: v.ndim > 1 and (not real or v.dtype.kind == "f"))
    n = min(d.values[i].shape[-2:])
    if d.values[i].shape[-2:] != (n, n):
        i = d.emit("item", i, index=(..., slice(n), slice(n)))
    norm = float(np.max(np.linalg.norm(d.values[i], axis=(-2, -1))))
    return d.emit("times", i, by=float(f"{1 / norm:.2g}")) if norm > 1 else i


def invertible(d: Draft) -> int:
    """Square matrices with all singular values between 1 and 3."""
    i = matrices(d)
    return d.emit("+", i, d.constant(2.0 * np.eye(d.values[i].shape[-1])))


def spaced(numbers: Any) -> None:
    """Give up unless eigenvalues, or singular values, differ."""
    if np.min(np.diff(np.sort(numbers, axis=-1), axis=-1), initial=1.0) < 0.15:
        raise Impossible


@action("linalg.solve", weight=1.0)
def solution(d: Draft) -> int:
    """Of linear equations with one right-hand side or several."""
    i = invertible(d)
    n = d.values[i].shape[-1]
    if d.values[i].ndim == 2 and d.chance(0.3):
        j = d.pick(lambda v: v.shape == (n,))
    else:
        j = d.pick(lambda v: v.ndim > 1 and fits(d.values[i], v))
    return d.emit("linalg.solve", i, j)


@action("linalg.inv", weight=0.7)
def inverse(d: Draft) -> int:
    """An inverse."""
    return d.emit("linalg.inv", invertible(d))


@action("linalg.det", "linalg.slogdet", weight=0.7)
def determinant(d: Draft) -> int:
    """A determinant, or its logarithm."""
    return d.emit(d.one(("linalg.det", "logdet")), invertible(d))


@action("linalg.cholesky", weight=0.7)
def cholesky(d: Draft) -> int:
    """The triangular root of a positive matrix."""
    return d.emit("root", matrices(d))


@action("linalg.eigh", "linalg.eigvalsh", weight=0.7)
def eigen(d: Draft) -> int:
    """Eigenvalues, or a function of a Hermitian matrix."""
    i = matrices(d)
    a = d.values[i]
    spaced(np.linalg.eigvalsh(a + np.conj(np.swapaxes(a, -1, -2))))
    return d.emit(d.one(("eigenvalues", "spectral")), i)


@action("linalg.eig", "linalg.inv", weight=0.4)
def general(d: Draft) -> int:
    """A function of a matrix by its eigenvalues and eigenvectors, complex as they may be."""
    i = matrices(d)
    w, v = np.linalg.eig(d.values[i])
    distances = np.abs(w[..., None] - w[..., None, :]) + np.eye(w.shape[-1])
    if np.min(distances) < 0.15 or np.max(np.linalg.cond(v)) > 10:
        raise Impossible
    return d.emit("general", i)


@action("linalg.lstsq", weight=0.3)
def least_squares(d: Draft) -> int:
    """The solution of too many equations."""
    i = d.pick(lambda v: v.ndim == 2 and v.shape[0] > v.shape[1])
    a = d.values[i]
    if np.min(np.linalg.svdvals(a)) < 0.3:
        raise Impossible
    return d.emit("lstsq", i, d.pick(lambda v: v.ndim in {1, 2} and v.shape[0] == len(a)))


@action("linalg.cond", weight=0.3)
def condition(d: Draft) -> int:
    """The condition of a matrix."""
    i = invertible(d)
    s = np.linalg.svdvals(d.values[i])
    spaced(s)
    return d.emit("linalg.cond", i, p=d.one((None, 2, -2, "fro")))


@action("linalg.svd", "linalg.svdvals", weight=0.7)
def singular(d: Draft) -> int:
    """Singular values, or a function of them."""
    i = d.pick(lambda v: v.ndim > 1)
    s = np.linalg.svdvals(d.values[i])
    spaced(np.concatenate([s, 0 * s[..., :1]], axis=-1))
    return d.emit(d.one(("linalg.svdvals", "singular")), i)


@action("linalg.qr", weight=0.4)
def orthogonal(d: Draft) -> int:
    """The orthogonal factor of a tall matrix."""
    i = d.real(least=2)
    tall = d.values[i].shape[-2] >= d.values[i].shape[-1]
    if not tall or np.min(np.linalg.svdvals(d.values[i])) < 0.3:
        raise Impossible
    return d.emit("orthogonal", i)


@action("linalg.pinv", weight=0.3)
def pseudo_inverse(d: Draft) -> int:
    """Of a matrix of full rank."""
    i = d.pick(lambda v: v.ndim > 1)
    if np.min(np.linalg.svdvals(d.values[i])) < 0.3:
        raise Impossible
    return d.emit("linalg.pinv", i)


@action("linalg.matrix_power", "linalg.multi_dot", weight=0.4)
def powers(d: Draft) -> int:
    """A matrix with itself several times."""
    i = matrices(d)
    if d.values[i].ndim == 2 and d.chance(0.5):
        return d.emit("multi_dot", i, matrices_like(d, i), i)
    return d.emit("linalg.matrix_power", i, n=d.one((2, 3, 5)))


def matrices_like(d: Draft, i: int) -> int:
    """A matrix of the same shape."""
    shape = d.values[i].shape
    return d.pick(lambda v: v.shape == shape)


@action("linalg.norm", weight=1.0)
def norm(d: Draft) -> int:
    """Of vectors or matrices."""
    i = d.pick(lambda v: v.ndim > 0)
    v = d.values[i]
    keep = {"keepdims": True} if d.chance(0.3) else {}
    if v.ndim > 1 and d.chance(0.4):
        kind = d.one(("fro", "nuc"))
        if kind == "nuc":
            s = np.linalg.svdvals(v)
            spaced(np.concatenate([s, 0 * s[..., :1]], axis=-1))
        params = {"ord": kind, "axis": (-2, -1)}
    else:
        params = {"ord": d.one((None, 1, 2, 3)), "axis": d.axis(i)}
        d.apart(v)
    if np.min(np.linalg.norm(v, **params)) < 0.2:
        raise Impossible
    return d.emit("linalg.norm", i, **params, **keep)


@action("cov", "corrcoef", weight=0.3)
def covariance(d: Draft) -> int:
    """Of rows that are not constant."""
    i = d.pick(lambda v: v.ndim == 2 and v.dtype.kind == "f" and v.shape[1] > 2)
    if np.min(np.var(d.values[i], axis=1)) < 0.05:
        raise Impossible
    return d.emit(d.one(("cov", "corrcoef")), i)


# -- Fourier transforms ---------------------------------------------------------------------------


@action("fft.fft", "fft.ifft", "fft.rfft", "fft.irfft", "real", "imag", weight=1.5)
def transform(d: Draft) -> int:
    """A Fourier transform along an axis, cut or padded; made real where the program is."""
    name = d.one(("fft.fft", "fft.ifft", "fft.rfft", "fft.irfft"))
    i = d.real(least=1) if name == "fft.rfft" else d.pick(lambda v: v.ndim > 0)
    mixed = any(np.iscomplexobj(d.values[k]) for k in range(d.inputs))
    axis = d.axis(i)
    length = d.values[i].shape[axis]
    if name == "fft.irfft" and length < 2:
        raise Impossible
    params: dict[str, Any] = {"axis": axis, "norm": d.one((None, "ortho", "forward"))}
    if d.chance(0.4):
        params["n"] = d.one((length + 2, max(length - 1, 1), length + 1))
    found = d.emit(name, i, **params)
    if name == "fft.irfft" or (mixed and d.chance(0.5)):
        return found
    return d.emit(d.one(("real", "imag")), found)


@action("fft.fft2", "absolute", weight=0.5)
def spectrum(d: Draft) -> int:
    """The absolute values of a transform over two axes."""
    i = d.pick(lambda v: v.ndim > 1)
    found = d.emit("fft.fft2", i)
    if np.min(np.abs(d.values[found])) < 0.1:
        raise Impossible
    return d.emit("absolute", found)


@action("fft.fftshift", "fft.ifftshift", weight=0.3)
def shifted(d: Draft) -> int:
    """The halves of an axis swapped."""
    i = d.pick(lambda v: v.ndim > 0)
    return d.emit(d.one(("fft.fftshift", "fft.ifftshift")), i, axes=d.axis(i))


@action("*", "conjugate", "real", weight=0.7)
def intensity(d: Draft) -> int:
    """The square of an absolute value, as a product."""
    i = complex_value(d)
    return d.emit("real", d.emit("*", i, d.emit("conjugate", i)))
