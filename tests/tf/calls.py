"""One table of calls of TensorFlow's functions: what is called, and with what, in TensorFlow and here alike.

A row is the text of a call, and the arrays that it names. Those that are floating-point numbers are differentiated:
the gradient of the sum of cosines of the result's real numbers, which tells apart what a plain sum would not.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A call as text, in which `a`, `b` and `c` are tensors, and their values."""

    call: str
    values: dict[str, Any]


def numbers(
    *shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0, dtype: str = "float32"
) -> Any:
    """Numbers that are neither equal nor at a corner of a function."""
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape).astype(dtype)


def positive(*shape: int, seed: int = 1, dtype: str = "float32") -> Any:
    """Numbers from 0.3 to 2."""
    return numbers(*shape, seed=seed, low=0.3, high=2.0, dtype=dtype)


def inside(*shape: int, seed: int = 2) -> Any:
    """Numbers from -0.8 to 0.8."""
    return numbers(*shape, seed=seed, low=-0.8, high=0.8)


def whole(*shape: int, seed: int = 3, low: int = -4, high: int = 5, dtype: str = "int32") -> Any:
    """Whole numbers."""
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


def complexes(*shape: int, seed: int = 4) -> Any:
    """Complex numbers."""
    return (numbers(*shape, seed=seed) + 1j * numbers(*shape, seed=seed + 1)).astype("complex64")


X, P, INSIDE, N = numbers(2, 3), positive(2, 3), inside(2, 3), whole(2, 3)
Y, Q, M, C = (
    numbers(2, 3, seed=9),
    positive(2, 3, seed=8),
    whole(2, 3, seed=7, low=1),
    complexes(2, 3),
)
D = numbers(2, 3, dtype="float64")
SQUARE = numbers(3, 3, seed=5)
DEFINITE = (SQUARE @ SQUARE.T + 3 * np.eye(3)).astype("float32")
IMAGES = numbers(2, 5, 6, 2)

ANYWHERE = (
    "abs square sin cos tan sinh cosh tanh exp expm1 asinh atan erf erfc negative sigmoid softplus softsign log_sigmoid "
    "sign round rint floor ceil is_nan is_inf is_finite reciprocal reciprocal_no_nan conj real"
)
ABOVE_ZERO = "log log1p sqrt rsqrt lgamma digamma bessel_i0 bessel_i0e bessel_i1 bessel_i1e"
WITHIN_ONE = "asin acos atanh erfinv"
OF_WHOLE = "abs square sign negative round"
OF_COMPLEX = (
    "abs square sin cos tanh exp log sqrt conj real imag angle negative reciprocal sigmoid_not"
)
OF_TWO = (
    "add subtract multiply divide truediv maximum minimum pow squared_difference floormod mod floordiv atan2 "
    "divide_no_nan multiply_no_nan xdivy xlogy xlog1py greater greater_equal less less_equal equal not_equal"
)
OF_TWO_WHOLE = "add subtract multiply divide maximum minimum squared_difference floormod floordiv greater less equal not_equal"
SPECIAL = (
    "bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos "
    "fresnel_sin spence"
)
REDUCTIONS = "sum mean prod max min variance std logsumexp euclidean_norm"


def elementwise() -> Iterator[Case]:
    """Functions of each element."""
    for name in ANYWHERE.split():
        yield Case(f"tf.math.{name}(a)", {"a": X})
        yield Case(f"tf.math.{name}(a)", {"a": D})
    for name in ABOVE_ZERO.split():
        yield Case(f"tf.math.{name}(a)", {"a": P})
    for name in WITHIN_ONE.split():
        yield Case(f"tf.math.{name}(a)", {"a": INSIDE})
    for name in ("acosh", "erfcinv", "ndtri"):
        yield Case(f"tf.math.{name}(a)", {"a": P + 1 if name == "acosh" else P / 3})
    for name in OF_WHOLE.split():
        yield Case(f"tf.math.{name}(a)", {"a": N})
    for name in OF_COMPLEX.split()[:-1]:
        yield Case(f"tf.math.{name}(a)", {"a": C})
    for name in OF_TWO.split():
        yield Case(f"tf.math.{name}(a, b)", {"a": P, "b": Q})
        yield Case(f"tf.math.{name}(a, b)", {"a": P, "b": Q[0]})
    for name in OF_TWO_WHOLE.split():
        yield Case(f"tf.math.{name}(a, b)", {"a": N, "b": M})
    for name in ("add", "multiply", "divide", "subtract", "equal"):
        yield Case(f"tf.math.{name}(a, b)", {"a": C, "b": complexes(2, 3, seed=11)})
    for name in ("and", "or", "xor"):
        yield Case(f"tf.math.logical_{name}(a > 0, b > 0)", {"a": X, "b": Y})
    yield Case("tf.math.logical_not(a > 0)", {"a": X})
    yield Case("tf.math.nextafter(a, b)", {"a": D, "b": D + 1})
    yield Case("tf.math.polyval([1.0, a, 3.0], b)", {"a": X, "b": Y})
    yield Case("tf.math.scalar_mul(2.5, a)", {"a": X})
    yield Case("tf.math.pow(a, 3.0)", {"a": X})
    yield Case("tf.math.pow(a, 2)", {"a": N})
    yield Case("tf.math.igamma(1.5, a)", {"a": P})
    yield Case("tf.math.igammac(1.5, a)", {"a": P})
    yield Case("tf.math.betainc(1.5, 0.5, a)", {"a": abs(INSIDE)})
    yield Case("tf.math.zeta(3.0, a)", {"a": P + 1})
    yield Case(
        "tf.math.real(tf.math.squared_difference(a, b))", {"a": C, "b": complexes(2, 3, seed=11)}
    )
    for order in ("0.0", "1.0", "2.0", "[0.0, 1.0, 4.0]"):
        yield Case(f"tf.math.polygamma(tf.constant({order}), a)", {"a": P})
    yield Case("tf.math.lbeta(a)", {"a": P})
    for name in SPECIAL.split():
        yield Case(f"tf.math.special.{name}(a)", {"a": P})
    yield Case("tf.complex(a, b)", {"a": X, "b": Y})


OPERATORS = (
    "a + b|a - b|a * b|a / b|a ** b|a // b|a % b|a > b|a >= b|a < b|a <= b|a == b|a != b|-a|abs(a)"
)


def operators() -> Iterator[Case]:
    """Python's operators, also beside numbers of Python and NumPy."""
    for call in OPERATORS.split("|"):
        yield Case(call, {"a": P, "b": Q})
        yield Case(call, {"a": P.astype("float64"), "b": Q.astype("float64")})
        if "**" not in call:
            yield Case(call, {"a": N, "b": M})
    for number in (
        "2", "2.5", "True", "np.float64(2.5)", "np.int64(3)", "np.array([1.0, 2.0, 3.0])", "[1.0, 2.0, 3.0]",
    ):  # fmt: skip
        for call in ("a + {}", "a * {}", "{} - a", "{} / a", "a < {}"):
            if number == "True" and "{}" == call[:2]:
                continue
            yield Case(call.format(number), {"a": P})
    for number in ("2", "np.int64(3)", "np.array([1, 2, 3])"):
        for call in ("a + {}", "a // {}", "{} - a", "{} / a", "a ** {}", "a % {}"):
            if "**" in call and "array" in number:
                continue
            yield Case(call.format(number), {"a": M})
    yield Case("a @ b", {"a": numbers(2, 3), "b": numbers(3, 4)})
    yield Case("a & b", {"a": N > 0, "b": M > 2})
    yield Case("a | b", {"a": N > 0, "b": M > 2})
    yield Case("a ^ b", {"a": N > 0, "b": M > 2})
    yield Case("~a", {"a": N > 0})
    for dtype in ("int8", "uint8", "int16", "int64", "uint16", "uint32", "uint64"):
        yield Case("a / b", {"a": M.astype(dtype), "b": M.astype(dtype)})
        yield Case("a * b + a", {"a": M.astype(dtype), "b": M.astype(dtype)})
    yield Case("a * b / 3 + 1", {"a": P.astype("float16"), "b": Q.astype("float16")})
    for index in (
        "0", "-1", "0, 1", ":, 1", "..., 0", "None", "::-1", "1:, :2", "0, ::2", ":, tf.newaxis, 1",
        "tf.constant(1)", "a > 0",
    ):  # fmt: skip
        yield Case(f"a[{index}]", {"a": X})


def reductions() -> Iterator[Case]:
    """Values of whole axes."""
    for name in REDUCTIONS.split():
        for options in ("", ", axis=0", ", axis=[0, 1]", ", axis=-1, keepdims=True"):
            yield Case(f"tf.math.reduce_{name}(a{options})", {"a": P})
    for name in ("sum", "mean", "prod", "max", "min"):
        yield Case(f"tf.math.reduce_{name}(a, 1)", {"a": N})
    for name in ("all", "any"):
        yield Case(f"tf.math.reduce_{name}(a > 0, 1)", {"a": X})
    for name in ("sum", "mean", "prod", "variance", "std"):
        yield Case(f"tf.math.reduce_{name}(a, 1)", {"a": C})
    yield Case("tf.math.real(tf.math.reduce_euclidean_norm(a, 1))", {"a": C})
    yield Case("tf.math.reduce_euclidean_norm(tf.stop_gradient(a), 1)", {"a": C})
    for call in (
        "tf.argmax(a)", "tf.argmin(a, axis=1)", "tf.argmax(a, 1, output_type=tf.int32)",
        "tf.math.count_nonzero(a > 0, 1)", "tf.math.zero_fraction(a > 0)", "tf.cumsum(a, 1)",
        "tf.cumsum(a, 0, exclusive=True)", "tf.cumsum(a, 1, reverse=True)", "tf.math.cumprod(a, 1)",
        "tf.math.cumprod(a, 1, exclusive=True, reverse=True)", "tf.math.cumulative_logsumexp(a, 1)",
        "tf.math.cumulative_logsumexp(a, 1, exclusive=True)",
        "tf.math.cumulative_logsumexp(a, 1, reverse=True)", "tf.add_n([a, a, a])",
        "tf.math.accumulate_n([a, a])", "tf.math.is_non_decreasing(a)", "tf.math.is_strictly_increasing(a)",
    ):  # fmt: skip
        yield Case(call.replace("zero_fraction(a > 0)", "zero_fraction(a)"), {"a": X})
    yield Case("tf.cumsum(a, 1)", {"a": N})
    yield Case("tf.math.bincount(a)", {"a": M})
    yield Case("tf.math.bincount(a[0], weights=[0.5, 2.0, 4.0], minlength=7)", {"a": M})
    yield Case(
        "tf.math.confusion_matrix(a, b)",
        {"a": whole(6, low=0, high=3), "b": whole(6, seed=1, low=0, high=3)},
    )
    yield Case("tf.reduce_max(a)", {"a": np.array([1.0, 3.0, 3.0], "float32")})


def arrays() -> Iterator[Case]:
    """Shapes, joining, choice and order."""
    both = {"a": X, "b": Y}
    for call in (
        "tf.reshape(a, [3, 2])", "tf.reshape(a, -1)", "tf.transpose(a)", "tf.transpose(a[None], [2, 0, 1])",
        "tf.expand_dims(a, 1)", "tf.squeeze(a[None])", "tf.squeeze(a[None], axis=0)", "tf.concat([a, b], 0)",
        "tf.concat([a, b], axis=-1)", "tf.stack([a, b])", "tf.stack([a, b], axis=-1)", "tf.unstack(a)",
        "tf.unstack(a, axis=1)", "tf.split(a, 3, axis=1)", "tf.split(a, [1, 2], 1)", "tf.split(a, [1, -1], 1)",
        "tf.tile(a, [2, 1])", "tf.repeat(a, 2, axis=1)", "tf.repeat(a, [1, 2], axis=0)", "tf.repeat(a, 2)",
        "tf.pad(a, [[1, 0], [0, 2]])", "tf.pad(a, [[1, 0], [1, 1]], 'REFLECT')",
        "tf.pad(a, [[1, 1], [0, 2]], mode='SYMMETRIC')", "tf.pad(a, [[0, 1], [1, 0]], constant_values=3)",
        "tf.reverse(a, [1])", "tf.roll(a, 1, 1)", "tf.roll(a, [1, -1], [0, 1])",
        "tf.broadcast_to(a, [2, 2, 3])", "tf.identity(a)", "tf.meshgrid(a[0], b[1])",
        "tf.meshgrid(a[0], b[1], indexing='ij')", "tf.shape(a)", "tf.size(a)", "tf.rank(a)",
        "tf.slice(a, [0, 1], [2, 2])", "tf.slice(a, [1, 0], [1, -1])", "tf.ensure_shape(a, [None, 3])",
        "tf.where(a > 0, a, b)", "tf.where(a > 0, a, 0.0)", "tf.where(a > 0)", "tf.boolean_mask(a, a > 0)",
        "tf.boolean_mask(a, [True, False])", "tf.boolean_mask(a, [True, False, True], axis=1)",
        "tf.clip_by_value(a, -1, 1)", "tf.clip_by_value(a, b - 1.0, b + 1.0)", "tf.sort(a)",
        "tf.sort(a, axis=0, direction='DESCENDING')", "tf.argsort(a)", "tf.argsort(a, direction='DESCENDING')",
        "tf.math.top_k(a, 2)", "tf.zeros_like(a)", "tf.ones_like(a, dtype=tf.int32)", "tf.cast(a, tf.float64)",
        "tf.cast(a, tf.int32)", "tf.cast(a, tf.bool)", "tf.cast(a, tf.complex64)", "tf.fill([2, 2], a[0, 0])",
        "tf.linspace(a[0], b[0], 3)", "tf.linspace(a[0, 0], 3.0, 4)", "tf.gather(a, [1, 0, 1])",
        "tf.gather(a, [[2, 0]], axis=1)", "tf.gather(a, [[1, 2], [0, 0]], batch_dims=1)",
        "tf.gather(a, [[1, 2], [0, 0]], axis=1, batch_dims=1)", "tf.gather_nd(a, [[0, 1], [1, 2]])",
        "tf.gather_nd(a, [[1]])", "tf.scatter_nd([[1], [1], [0]], a[0], [3])",
        "tf.scatter_nd([[1], [3]], a, [4, 3])", "tf.tensor_scatter_nd_update(a, [[0, 1]], b[0, :1])",
        "tf.tensor_scatter_nd_update(a, [[1]], b[:1])",
        "tf.tensor_scatter_nd_add(a, [[0, 1], [0, 1]], b[0, :2])", "tf.tensor_scatter_nd_sub(a, [[1]], b[:1])",
        "tf.tensor_scatter_nd_max(a, [[0, 0], [0, 1]], b[0, :2])", "tf.tensor_scatter_nd_min(a, [[1]], b[:1])",
        "tf.reverse_sequence(a, [2, 3], seq_axis=1, batch_axis=0)", "tf.dynamic_partition(a, [1, 0], 2)",
        "tf.dynamic_stitch([[2, 0], [1]], [a, b[:1]])", "tf.searchsorted([0.0, 1.0], a[0])",
        "tf.math.segment_sum(a, [0, 0])", "tf.math.unsorted_segment_sum(a, [1, 1], 3)",
        "tf.math.unsorted_segment_mean(a, [1, 1], 2)", "tf.math.unsorted_segment_max(a, [0, 0], 1)",
        "tf.math.unsorted_segment_min(a, [1, 0], 2)", "tf.math.unsorted_segment_prod(a, [1, 1], 3)",
        "tf.math.unsorted_segment_sqrt_n(a, [1, 1], 2)", "tf.histogram_fixed_width(a, [-2.0, 2.0], 4)",
        "tf.where(a > 0, 1, 2)", "tf.convert_to_tensor([a[0], b[1]])",
        "tf.convert_to_tensor([[a[0, 0], 1.0], [2.0, b[0, 0]]])",
        "tf.nest.map_structure(lambda x: x * 2, [a, {'k': b}])", "tf.dtypes.saturate_cast(a * 200, tf.int8)",
        "tf.einsum('ij,kj->ik', a, b)", "tf.einsum('ij->j', a)", "tf.tensordot(a, b, [[1], [1]])",
        "tf.tensordot(a, tf.transpose(b), 1)", "tf.tensordot(a, b, 0)",
    ):  # fmt: skip
        yield Case(call, both)
    for name in ("mean", "prod", "max", "min", "sum"):
        yield Case(f"tf.math.segment_{name}(a, [0, 0, 2])", {"a": numbers(3, 2)})
    for call in (
        "tf.one_hot(a, 3)", "tf.one_hot(a, 3, axis=0)", "tf.one_hot(a, 3, 5.0, -1.0)",
        "tf.one_hot(a, 2, dtype=tf.int64)", "tf.unique(a)", "tf.unique_with_counts(a)", "tf.sequence_mask(a)",
        "tf.sequence_mask(a, 5, tf.float32)", "tf.gather([1.5, 2.5, 3.5], a)", "tf.range(a[0], 6)",
        "tf.sort(a)", "tf.reshape(a, [2, 2])",
    ):  # fmt: skip
        yield Case(call, {"a": np.array([1, 0, 2, 0], "int32")})
    yield Case("tf.math.invert_permutation(a)", {"a": np.array([2, 0, 1], "int32")})
    yield Case("tf.unravel_index(a, [2, 3])", {"a": np.array([5, 0, 1], "int32")})
    yield Case("tf.math.in_top_k([1, 0], a, 1)", {"a": X})
    yield Case("tf.searchsorted([[1.0, 3.0], [0.0, 5.0]], a[:, :2], side='right')", {"a": X})


def linear() -> Iterator[Case]:
    """Linear algebra."""
    for call in (
        "tf.matmul(a, b)", "tf.matmul(a, b, transpose_a=True)", "tf.matmul(a, b, transpose_b=True)",
        "tf.matmul(a, b, adjoint_a=True)", "tf.linalg.matvec(a, b[0])",
        "tf.linalg.matvec(a, b[0], transpose_a=True)", "tf.linalg.det(a)", "tf.linalg.inv(a)",
        "tf.linalg.inv(a, adjoint=True)", "tf.linalg.solve(a, b)", "tf.linalg.solve(a, b, adjoint=True)",
        "tf.linalg.trace(a)", "tf.linalg.diag_part(a)", "tf.linalg.diag_part(a, k=1)", "tf.linalg.diag(a[0])",
        "tf.linalg.diag(a, k=-1)", "tf.linalg.set_diag(a, b[0])", "tf.linalg.set_diag(a, b[0, :2], k=1)",
        "tf.linalg.tensor_diag(a[0])", "tf.linalg.tensor_diag_part(a)", "tf.linalg.band_part(a, 0, -1)",
        "tf.linalg.band_part(a, 1, 0)", "tf.linalg.cross(a, b)", "tf.linalg.norm(a)",
        "tf.linalg.norm(a, axis=1)", "tf.linalg.norm(a, ord=1, axis=0, keepdims=True)",
        "tf.linalg.norm(a, axis=[0, 1])", "tf.linalg.norm(a, ord='fro', axis=[-2, -1])",
        "tf.linalg.norm(a, ord=3, axis=1)", "tf.norm(a, ord=np.inf, axis=1)", "tf.linalg.normalize(a, axis=1)",
        "tf.math.l2_normalize(a, axis=1)", "tf.nn.l2_normalize(a)", "tf.clip_by_norm(a, 1.0)",
        "tf.clip_by_norm(a, 1.0, axes=[1])", "tf.clip_by_global_norm([a, b], 1.0)",
        "tf.clip_by_global_norm([a, None, b], 100.0)", "tf.linalg.global_norm([a, b])",
        "tf.linalg.matrix_transpose(a)", "tf.linalg.adjoint(a)", "tf.linalg.expm(a)", "tf.linalg.expm(a * 4)",
        "tf.linalg.triangular_solve(a, b)", "tf.linalg.triangular_solve(a, b, lower=False, adjoint=True)",
        "tf.linalg.matrix_rank(a)", "tf.linalg.pinv(a)", "tf.linalg.slogdet(a)",
        "tf.linalg.svd(a, compute_uv=False)", "tf.linalg.lstsq(a, b)",
        "tf.linalg.lstsq(a, b, l2_regularizer=0.5)", "tf.linalg.lstsq(a[:, :2], b)",
        "tf.einsum('ij,jk->ik', a, b)",
    ):  # fmt: skip
        yield Case(call, {"a": SQUARE, "b": numbers(3, 3, seed=6)})
    for call in (
        "tf.linalg.cholesky(a)",
        "tf.linalg.logdet(a)",
        "tf.linalg.eigh(a)[0]",
        "tf.linalg.eigvalsh(a)",
        "tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b)",
    ):
        yield Case(call, {"a": DEFINITE, "b": numbers(3, 2, seed=6)})
    yield Case("tf.linalg.cholesky(a)", {"a": np.tril(DEFINITE) + 2 * np.triu(SQUARE, 1)})
    yield Case("tf.matmul(a, b)", {"a": numbers(2, 3, 4), "b": numbers(2, 4, 2)})
    yield Case("tf.matmul(a, b)", {"a": N, "b": N.T.copy()})
    yield Case("tf.matmul(a, b, adjoint_b=True)", {"a": C, "b": C})
    for size in ("", "2d", "3d"):
        yield Case(f"tf.signal.fft{size}(a)", {"a": complexes(2, 3, 4)})
        yield Case(f"tf.signal.ifft{size}(a)", {"a": complexes(2, 3, 4)})
        constant = (
            "tf.stop_gradient(a)" if size == "3d" else "a"
        )  # TensorFlow has no gradient for these
        yield Case(f"tf.signal.rfft{size}({constant})", {"a": numbers(2, 3, 4)})
        yield Case(f"tf.signal.irfft{size}({constant})", {"a": complexes(2, 3, 4)})
    yield Case("tf.signal.rfft(a, fft_length=[6])", {"a": numbers(2, 4)})
    yield Case("tf.signal.irfft(a, fft_length=[5])", {"a": complexes(2, 3)})
    yield Case("tf.signal.fftshift(a)", {"a": numbers(2, 4)})
    yield Case("tf.signal.ifftshift(a, axes=1)", {"a": numbers(2, 5)})
    yield Case("tf.signal.hann_window(6) * a", {"a": numbers(6)})
    yield Case("tf.signal.hamming_window(5, periodic=False) * a", {"a": numbers(5)})


def neural() -> Iterator[Case]:
    """Parts of neural networks."""
    for name in (
        "relu", "relu6", "elu", "selu", "leaky_relu", "gelu", "silu", "swish", "crelu", "softmax",
        "log_softmax", "l2_loss", "tanh", "softplus",
    ):  # fmt: skip
        yield Case(f"tf.nn.{name}(a)", {"a": X})
    for call in (
        "tf.nn.leaky_relu(a, alpha=0.1)",
        "tf.nn.gelu(a, approximate=True)",
        "tf.nn.silu(a, beta=2.0)",
        "tf.nn.softmax(a, axis=0)",
        "tf.nn.bias_add(a, b[0])",
        "tf.nn.moments(a, [0])",
        "tf.nn.moments(a, axes=[0, 1], keepdims=True)",
        "tf.nn.weighted_moments(a, [0], tf.abs(b))",
        "tf.nn.batch_normalization(a, b[0], tf.abs(b[1]), b[0], b[1], 1e-3)",
        "tf.nn.batch_normalization(a, b[0], tf.abs(b[1]), None, None, 1e-3)",
        "tf.nn.embedding_lookup(a, [1, 0, 1])",
        "tf.nn.softmax_cross_entropy_with_logits(tf.constant([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]), a)",
        "tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], a)",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(b), logits=a)",
        "tf.nn.weighted_cross_entropy_with_logits(tf.sigmoid(b), a, 2.0)",
        "tf.nn.log_poisson_loss(tf.abs(b), a)",
        "tf.nn.log_poisson_loss(tf.abs(b) * 2, a, True)",
        "tf.nn.compute_average_loss(a[0])",
        "tf.nn.compute_average_loss(a[0], sample_weight=b[0], global_batch_size=4)",
        "tf.nn.zero_fraction(a)",
    ):
        yield Case(call, {"a": X, "b": Y})
    for call in (
        "tf.nn.conv2d(a, b, 1, 'VALID')",
        "tf.nn.conv2d(a, b, [1, 2, 2, 1], 'SAME')",
        "tf.nn.conv2d(a, b, strides=2, padding=[[0, 0], [1, 0], [2, 1], [0, 0]])",
        "tf.nn.conv2d(a, b, 1, 'SAME', dilations=2)",
        "tf.nn.depthwise_conv2d(a, b, [1, 1, 1, 1], 'SAME')",
    ):
        yield Case(call, {"a": IMAGES, "b": numbers(2, 3, 2, 3)})
    yield Case(
        "tf.nn.conv2d_transpose(a, b, [2, 6, 8, 3], 2, 'VALID')",
        {"a": numbers(2, 3, 4, 2), "b": numbers(2, 2, 3, 2)},
    )
    yield Case(
        "tf.nn.conv1d(a, b, stride=2, padding='SAME')",
        {"a": numbers(2, 6, 2), "b": numbers(3, 2, 3)},
    )
    yield Case(
        "tf.nn.separable_conv2d(a, b, c, [1, 1, 1, 1], 'VALID')",
        {"a": IMAGES, "b": numbers(2, 2, 2, 2), "c": numbers(1, 1, 4, 3)},
    )
    for name in ("max_pool2d", "avg_pool2d", "max_pool", "avg_pool"):
        for options in ("2, 2, 'VALID'", "[1, 2, 3, 1], [1, 2, 1, 1], 'SAME'"):
            yield Case(f"tf.nn.{name}(a, {options})", {"a": IMAGES})
    yield Case("tf.nn.max_pool1d(a, 2, 2, 'SAME')", {"a": numbers(2, 5, 2)})
    yield Case("tf.nn.avg_pool1d(a, 3, 1, 'SAME')", {"a": numbers(2, 5, 2)})
    yield Case("tf.nn.depth_to_space(a, 2)", {"a": numbers(1, 2, 3, 8)})
    yield Case("tf.nn.space_to_depth(a, 2)", {"a": numbers(1, 4, 6, 2)})
    yield Case(
        "tf.nn.local_response_normalization(a, 1, 1.0, 0.5, 0.75)", {"a": numbers(1, 2, 2, 4)}
    )


def edges() -> Iterator[Case]:
    """Values that a straightforward formula gets wrong: of large and small numbers, NaN, infinities and ties."""
    far = np.array([-200.0, 0.0, -300.0, 5.0], "float32")
    with_nan = np.array([[np.nan, 5.0, 1.0], [2.0, np.nan, 7.0]], "float32")
    tied = np.array([[2.0, 1.0, 2.0], [3.0, 3.0, 3.0]], "float32")
    halves = positive(2, 3).astype("float16")
    for options in ("", ", exclusive=True", ", reverse=True", ", exclusive=True, reverse=True"):
        yield Case(f"tf.math.cumulative_logsumexp(a{options})", {"a": far})
    for dtype, high in (("uint8", 250), ("int8", 120), ("int32", 2**31 - 1)):
        large = np.array([[high, high], [high - 8, 3]], dtype)
        yield Case("tf.reduce_mean(a)", {"a": large})
        yield Case("tf.reduce_mean(a, 1)", {"a": large})
    for call in ("tf.argmax(a, 1)", "tf.argmin(a, 1)", "tf.argmax(a)"):
        yield Case(call, {"a": with_nan})
    yield Case("tf.unique(tf.stop_gradient(a[:, 0] * np.nan))[0]", {"a": with_nan})
    for call in ("a // b", "b // a", "tf.math.floordiv(a, b)", "a // 0.1", "6.0 // a"):
        yield Case(
            call,
            {"a": np.array([1.0, 6.0, -0.3], "float32"), "b": np.array([0.1, 0.1, 0.1], "float32")},
        )
    yield Case("tf.constant([np.inf, -np.inf, 3.0]) // 1.5", {})
    yield Case("tf.sort(a, direction='DESCENDING')", {"a": tied})
    yield Case("tf.sort(a, axis=0, direction='DESCENDING')", {"a": tied})
    yield Case("tf.clip_by_value(a, 1.5, 0.5)", {"a": X})
    yield Case("tf.complex(tf.constant([1.0, np.inf]), tf.constant([np.inf, 2.0]))", {})
    yield Case("tf.pad(a > 0, [[1, 0], [0, 1]])", {"a": X})
    for ends in ("0.0, 0.3, 0.1", "0.0, 0.7, 0.1", "1.0, 0.1, -0.3", "2**53, 2**53 + 3"):
        yield Case(f"tf.range({ends})", {})
    yield Case("tf.transpose(a > 0, conjugate=True)", {"a": X})
    yield Case("tf.dtypes.saturate_cast(a * 1000, tf.int32)", {"a": halves})
    yield Case("tf.dtypes.saturate_cast(a * 1000, tf.uint8)", {"a": C})
    for dtype in ("uint8", "int16", "int64"):
        yield Case("tf.dtypes.saturate_cast(a * 40, tf.int32)", {"a": M.astype(dtype)})
        yield Case("tf.dtypes.saturate_cast(a * 40, tf.int8)", {"a": M.astype(dtype)})
    yield Case("tf.dtypes.saturate_cast(tf.constant([np.inf, 7.0], tf.float16), tf.int32)", {})
    for name in ("bessel_i0e", "bessel_i1", "lgamma"):
        yield Case(f"tf.math.{name}(tf.stop_gradient(a) / 3)", {"a": halves})
    yield Case("tf.math.xlog1py(tf.stop_gradient(a), 0.5)", {"a": halves})


def creation() -> Iterator[Case]:
    """New tensors: values and dtypes."""
    for value in (
        "3", "3.0", "True", "1j", "[1, 2]", "[1, 2.5]", "[[1.0], [2.0]]", "[]", "[[]]", "2**40",
        "np.float64(1)", "np.int64(1)", "np.arange(3)", "np.ones(2)", "[np.float64(1.0), 2.0]",
        "[np.float32(1.0), 2.0]", "(1, 2)", "range(3)",
    ):  # fmt: skip
        yield Case(f"tf.constant({value})", {})
        yield Case(f"tf.Variable({value}) + 0" if value != "True" else "tf.Variable(True)", {})
    for call in (
        "tf.constant(1, tf.float32)", "tf.constant(2, shape=(2, 2))",
        "tf.constant([1, 2, 3, 4], shape=[2, 2])", "tf.constant(np.ones(2), tf.float32)",
        "tf.constant(5, dtype='int64')", "tf.zeros(3)", "tf.zeros([])", "tf.ones((2, 1), tf.int32)",
        "tf.zeros([2], dtype=bool)", "tf.eye(2)", "tf.eye(2, 3)", "tf.eye(2, batch_shape=[2])",
        "tf.fill([2, 2], 7)", "tf.fill([2], 7.0)", "tf.range(5)", "tf.range(5.0)", "tf.range(1, 2, 0.25)",
        "tf.range(10, 0, -3)", "tf.range(3, dtype=tf.float64)", "tf.range(0)", "tf.range(np.int64(3))",
        "tf.linspace(0.0, 1.0, 5)", "tf.linspace(0, 1, 5)", "tf.linspace(1.0, 1.0, 1)",
        "tf.linspace([0.0, 1.0], [1.0, 3.0], 3, axis=-1)", "tf.cast(3.7, tf.int32)",
        "tf.cast([0, 2], tf.bool)", "tf.cast(1 + 2j, tf.float32)", "tf.cast(-1, tf.float16)", "tf.add(1, 2)",
        "tf.divide(1, 2)", "tf.multiply(3.0, 2)", "tf.add(np.float64(2.5), 1)", "tf.maximum(1.0, 2)",
        "tf.sqrt(2.0)", "tf.square(3)", "tf.abs([-1, 2])", "tf.reduce_sum([[1, 2], [3, 4]], 0)",
        "tf.reduce_mean([1, 2])", "tf.reduce_mean([-1, -2])", "tf.math.floordiv(5, -3)",
        "tf.math.floormod(-5, 3)", "tf.bitwise.bitwise_and(6, 3)", "tf.bitwise.bitwise_xor([6, 1], [3, 1])",
        "tf.bitwise.left_shift(1, 3)", "tf.bitwise.invert(5)", "tf.bitwise.right_shift(-8, 1)",
        "tf.reduce_max(tf.zeros((0,)))", "tf.reduce_sum(tf.zeros((0, 2)), 0)",
        "tf.reduce_prod(tf.zeros((0,)))", "tf.math.log([0.0, -1.0])", "tf.constant(1) / tf.constant(0)",
        "tf.math.divide_no_nan([1.0, 0.0], [0.0, 0.0])", "tf.math.multiply_no_nan(np.nan, 0.0)",
        "tf.math.xlogy(0.0, 0.0)", "tf.round([0.5, 1.5, 2.5, -0.5])", "tf.sign([-2.0, 0.0, np.nan])",
        "tf.math.reciprocal_no_nan([0.0, 2.0])", "tf.constant([1.0, 2.0]) == tf.constant([1.0, 2.0, 3.0])",
        "tf.zeros(2) == None", "tf.reduce_all([])", "tf.math.bincount([])",
        "tf.math.unsorted_segment_mean([1, 2, 4], [0, 0, 0], 1)", "tf.nn.leaky_relu([-1, 2])",
        "tf.math.imag(1.0)", "tf.signal.irfft([1 + 0j, 2])", "tf.signal.hamming_window(3)",
        "tf.signal.hann_window(4)", "tf.dtypes.saturate_cast([1e20, -1e20], tf.int32)",
        "np.int64(2) / tf.constant([1, 2, 3], tf.int8)", "tf.reduce_max([np.nan, 1.0])",
        "tf.sort([3.0, 1.0, 2.0])", "tf.cast([300.0, -1.0], tf.uint8)", "tf.linalg.norm([3.0, -4.0], ord=1)",
        "tf.one_hot([-1, 3], 3)", "tf.pow(0.0, 0.0)", "tf.math.floormod(5.0, -3.0)",
        "tf.gather([[1, 2], [3, 4]], 1, axis=1)", "tf.stack([1, 2.0])", "tf.concat([[1.0], [2]], 0)",
        "tf.math.top_k([1, 3, 2], 2)", "tf.size([[1, 2]], tf.int64)", "tf.linalg.trace([[1, 2], [3, 4]])",
    ):  # fmt: skip
        yield Case(call, {})


def keras_operations() -> Iterator[Case]:
    """Functions of tf.keras.ops and of tf.keras.backend."""
    ops = (
        "median(a)", "median(a, axis=1)", "median(a, axis=0, keepdims=True)", "ptp(a, axis=1)", "nanmean(a, axis=0)",
        "nanmax(a)", "nansum(a, axis=1)", "nanstd(a)", "fabs(a)", "deg2rad(a)", "rad2deg(a)", "sinc(a)", "erfc(a)",
        "trunc(a)", "celu(a)", "glu(a[:, :2])", "hard_silu(a)", "hard_tanh(a)", "tanh_shrink(a)", "soft_shrink(a)",
        "hard_shrink(a)", "squareplus(a)", "sparse_plus(a)", "sparse_sigmoid(a)",
        "threshold(a, 0.5, 0.1)", "copy(a)", "diagonal(a)", "diagflat(a[0])", "diff(a)", "diff(a, axis=0)",
        "fliplr(a)", "flipud(a)", "rot90(a)", "signbit(a)", "hypot(a, b)", "logaddexp(a, b)", "fmax(a, b)", "fmin(a, b)",
        "kron(a, b)", "vdot(a[0], b[0])", "divide_no_nan(a, b)", "allclose(a, a)", "isclose(a, b)", "append(a, b)",
        "append(a, b, axis=1)", "array_split(a, 2, axis=1)", "hsplit(a, 3)", "vsplit(a, 2)", "dstack([a, b])",
        "hstack([a, b])", "vstack([a, b])", "average(a, axis=1)", "average(a, axis=0, weights=b)", "corrcoef(a)",
        "correlate(a[0], b[0, :2])", "count_nonzero(a, axis=1)", "cross(a, b)", "cumprod(a, axis=1)",
        "digitize(a, np.array([-1.0, 0.0, 1.0], 'float32'))", "meshgrid(a[0], b[1])", "nonzero(a)",
        "quantile(a, 0.25)", "quantile(a, 0.4, axis=1)", "percentile(a, 30.0)", "slogdet(a[:, :2])",
        "segment_sum(a, np.array([0, 0]))", "segment_max(a, np.array([0, 1]))", "scatter_update(a, [[0, 1]], [5.0])",
        "scatter_update(a, [[0, 1]], [5.0], reduction='add')", "scatter([[1], [0]], a, (4, 3))", "slice(a, (0, 1), (2, 2))",
        "trapezoid(a)", "trapezoid(a, dx=0.5, axis=0)", "vander(a[0])", "normalize(a)",
        "normalize(a, axis=0, order=1)", "solve(a[:, :2], b[:, 0])", "solve(a[:, :2], b)", "pinv(a)",
        "binary_crossentropy(tf.cast(a > 0, 'float32'), tf.sigmoid(b))", "binary_crossentropy(tf.cast(a > 0, 'float32'), b, from_logits=True)",
        "batch_normalization(a, a[0], a[1] ** 2, -1)", "map(lambda x: x * 2.0, a)",
        "scan(lambda c, x: (c + x, c * x), tf.ones(3), a)", "fori_loop(0, 3, lambda k, x: x * 1.5, a)",
        "switch(1, [lambda x: x, lambda x: 2.0 * x], a)", "multi_hot(np.array([[0, 2], [1, 1]]), 4)", "tri(3)", "logspace(0, 2, 3)",
        "geomspace(1, 100, 3)", "searchsorted(np.array([0.0, 1.0], 'float32'), a[0])",
        "unravel_index([3, 5], (2, 3))", "bincount(np.array([0, 2, 2]))",
        "svd(a, compute_uv=False)", "logdet(a[:, :2] @ tf.transpose(a[:, :2]))",
    )  # fmt: skip
    for call in ops:
        yield Case(f"tf.keras.ops.{call}", {"a": X, "b": Y})
    whole_numbers = (
        "median(a)", "ptp(a)", "bitwise_and(a, b)", "bitwise_xor(a, b)", "bitwise_not(a)", "gcd(a, b)", "lcm(a, b)",
        "nansum(a)", "average(a)", "hypot(a, b)", "fmax(a, b)", "diff(a)", "kron(a, b)", "count_nonzero(a)",
        "left_shift(b, b)", "cumprod(a, axis=0)", "append(a, b)",
    )  # fmt: skip
    for call in whole_numbers:
        yield Case(f"tf.keras.ops.{call}", {"a": N, "b": M})
    signals, kernel = numbers(2, 6, 2), numbers(3, 2, 4, seed=1)
    for options in ("", ", 2, 'same'", ", padding='same', dilation_rate=2"):
        yield Case(f"tf.keras.ops.conv(a, b{options})", {"a": signals, "b": kernel})
    flat = numbers(3, 3, 2, 4, seed=2)
    yield Case("tf.keras.ops.conv(a, b, strides=2)", {"a": IMAGES, "b": flat})
    yield Case(
        "tf.keras.ops.conv_transpose(a, b, 2, 'same')",
        {"a": IMAGES, "b": numbers(3, 3, 4, 2, seed=6)},
    )
    yield Case("tf.keras.ops.depthwise_conv(a, b)", {"a": IMAGES, "b": flat})
    yield Case(
        "tf.keras.ops.separable_conv(a, b, c)",
        {"a": IMAGES, "b": flat, "c": numbers(1, 1, 8, 3, seed=4)},
    )
    for pool in ("max_pool(a, 2)", "average_pool(a, 2, 1, 'same')", "max_pool(a, (2, 3), 2)"):
        yield Case(f"tf.keras.ops.{pool}", {"a": IMAGES})
    yield from newer_operations()
    backend = (
        "mean(a)", "mean(a > 0)", "sum(a, axis=1)", "std(a)", "var(a, axis=0)", "prod(a, axis=1)", "max(a, axis=-1)",
        "min(a)", "any(a)", "all(a > 5.0, axis=0)", "sqrt(a)", "square(a)", "abs(a)", "exp(a)",
        "clip(a, -0.5, 0.5)", "clip(a, 0.0, None)", "relu(a)", "relu(a, alpha=0.1, max_value=1.0)", "elu(a)", "softmax(a)",
        "sigmoid(a)", "hard_sigmoid(a)", "tanh(a)", "softplus(a)", "softsign(a)", "dot(a, tf.transpose(b))",
        "l2_normalize(a, axis=1)", "l2_normalize(a)", "flatten(a)", "batch_flatten(a[:, :, None])", "expand_dims(a)",
        "squeeze(a[:1], 0)", "transpose(a)", "permute_dimensions(a, (1, 0))", "concatenate([a, b])",
        "repeat_elements(a, 2, 1)", "repeat(a, 3)", "reverse(a, 1)", "cumsum(a)", "cumprod(a, axis=1)", "argmax(a)",
        "argmin(a, axis=0)", "one_hot([0, 2], 3)", "zeros_like(a)", "ones_like(a)", "arange(4)", "arange(1, 7, 2)",
        "maximum(a, b)", "minimum(a, b)", "pow(a, 2)", "round(a)", "sign(a)", "equal(a, b)", "greater(a, b)",
        "switch(a > 0, a, b)", "switch(tf.constant(True), a, b)", "stack([a, b], axis=1)", "tile(a, (1, 2))",
        "binary_crossentropy(tf.cast(a > 0, 'float32'), tf.sigmoid(b))",
        "categorical_crossentropy(tf.nn.softmax(a), tf.nn.softmax(b))",
        "sparse_categorical_crossentropy([0, 2], tf.nn.softmax(b))", "gather(a, [1, 0])", "cast(a, 'int32')",
        "count_params(a)", "int_shape(a)", "ndim(a)", "dtype(a)", "get_value(a)", "bias_add(a, b[0])",
        "reshape(a, (3, 2))", "shape(a)", "foldl(lambda s, x: s + x, a)", "map_fn(lambda x: x * 2.0, a)", "eval(a)",
        "is_keras_tensor(a)", "constant([1, 2])", "cast_to_floatx(np.arange(3))", "image_data_format()", "epsilon()",
    )  # fmt: skip
    for call in backend:
        yield Case(f"tf.keras.backend.{call}", {"a": X, "b": Y})


def newer_operations() -> Iterator[Case]:
    """Functions of tf.keras.ops that came with later versions of Keras 3, most of them on larger arrays."""
    signal, frames = numbers(2, 20, seed=3), numbers(2, 4, 8, seed=3)
    pair = "(a[..., :4], a[..., 4:])"
    parts = f"(tf.constant({np.arange(20.0).reshape(4, 5).tolist()}), tf.constant({np.cos(np.arange(20.0)).reshape(4, 5).tolist()}))"
    window = "[0.1, 0.5, 1.0, 0.9, 0.5, 0.2]"
    table: list[tuple[Any, tuple[str, ...]]] = [
        (X, (
            "bartlett(5)", "blackman(6)", "hamming(5)", "hanning(4)", "kaiser(6, 2.5)", "hanning(1)", "empty((0, 2))",
            "cdist(a, a[:, ::-1] * 2.0)", "ldexp(a, np.array([1, 0, -2]))", "ldexp(3, np.array([2, 1]))",
            "nancumsum(a, axis=1)", "nancumprod(a)", "nanargmax(a)", "nanargmin(a, axis=1, keepdims=True)",
            "isin(np.array([1, 2, 5]), np.array([5, 1]))", "isin(a, a[:, :1], invert=True)",
            "get_item(a, (0, slice(1, None)))", "select([a > 1.0, a < 0.0], [a * 2.0, a * a], 3.0)",
            "histogram(a[0], bins=4)", "histogram(a[1], bins=3, range=(-1.0, 1.0))",
            "unique(np.array([3, 1, 3, 2]), return_index=True, return_inverse=True, return_counts=True)",
            "unique(np.array([3, 1, 3, 2]), sorted=False, return_inverse=True)",
            "unique(np.array([[1, 2], [0, 5], [1, 2]]), axis=0, return_counts=True)",
            "unique(np.array([3, 1, 3]), size=4, fill_value=9, return_counts=True)",
            "rearrange(a, 'b c -> c b')", "rearrange(a, 'b c -> (c b)')", "rearrange(a[None], 'a b (c d) -> (a c) (d b)', d=1)",
            "associative_scan(lambda x, y: x * y, a)", "associative_scan(lambda x, y: x + y, a, reverse=True, axis=1)",
            "jvp(lambda x: x ** 3, (a,), (tf.ones_like(a),))[1]", "matrix_rank(a)",
            "segment_min(a, np.array([1, 1]))", "segment_prod(a, np.array([0, 0]), num_segments=2)",
            "psnr(a, a[::-1], 2.0)", "view_as_real(tf.complex(a, 2.0 * a))", "view_as_complex(a[:, :2])", "polar(a, a ** 2)",
            "layer_normalization(a)", "layer_normalization(a, a[0], a[1], axis=-1, epsilon=0.1)", "layer_normalization(a, axis=[0, 1])",
            "rms_normalization(a)", "rms_normalization(a, a[0], epsilon=0.1)", "view(np.array([1.0, -2.0], 'float32'), 'int32')",
            "linalg.norm(a)", "nn.relu(a)", "numpy.sum(a)",
        )),
        (DEFINITE, (
            "cholesky_inverse(ops.cholesky(a))", "solve_triangular(a, a[0], lower=True)", "solve_triangular(a, a[:, :2])",
            "lstsq(a[:, :2], a[:, 2])", "lstsq(a[:, :2], a)",
        )),
        (signal, (
            "rfft(a)", "rfft(tf.stop_gradient(a), 12)", "extract_sequences(a, 6, 4)", "stft(a, 6, 3, 8)", f"stft(a, 6, 3, 8, window={window}, center=False)",
            "stft(a, 8, 4, 8, 'hamming')", "istft(ops.stft(a, 8, 2, 8), 8, 2, 8)", f"istft({parts}, 6, 2, 8, length=7, window={window})",
            f"istft({parts}, 8, 3, 8, window=None, center=False)",
        )),
        (frames, (f"fft({pair})", f"fft2({pair})", f"ifft2({pair})", "irfft((a[..., :5], a[..., 3:]))", "irfft((tf.stop_gradient(a[..., :5]), tf.zeros((2, 4, 5))), 6)")),
        (IMAGES, (
            "adaptive_average_pool(a, 2)", "adaptive_average_pool(a, (3, 4))", "adaptive_max_pool(a, (2, 4))",
            "adaptive_average_pool(a[:, 0], 4)", "adaptive_max_pool(a[..., None], (2, 4, 2))", "unfold(a, 2)",
            "unfold(a, (3, 1), dilation=(2, 1), padding=1, stride=(1, 2))", "fold(ops.unfold(a, 2), (6, 2), 2)",
            "fold(a[:, :4, 0, :1] * 2.0, (2, 3), (2, 2), padding=(0, 1), stride=(1, 5))",
            "space_to_depth(a[:, :4], 2)", "depth_to_space(tf.concat([a, a], -1), 2)",
        )),
        (numbers(2, 4, 2, 3, seed=1), (
            "dot_product_attention(a, a[::-1], a * 2.0)", "dot_product_attention(a, a, a, is_causal=True, scale=0.5)",
            "dot_product_attention(tf.concat([a, a * 2.0], 2), a[:, :3], a[:, 1:], bias=a[:, :1, :1, :1])",
            "dot_product_attention(a, a, a, mask=np.array([[[[True, False, True, True]]]]))",
        )),
    ]  # fmt: skip
    for values, calls in table:
        for call in calls:
            yield Case(
                f"tf.keras.ops.{call}".replace(" ops.", " tf.keras.ops.").replace(
                    "(ops.", "(tf.keras.ops."
                ),
                {"a": values},
            )


CASES = [
    *elementwise(),
    *operators(),
    *reductions(),
    *arrays(),
    *linear(),
    *neural(),
    *creation(),
    *edges(),
    *keras_operations(),
]


def run(case: Case, tf: Any) -> list[Any]:
    """The result of a call, and the gradients with respect to its floating-point arguments."""
    given = {name: tf.constant(value) for name, value in case.values.items()}
    sources = [x for x in given.values() if x.dtype.is_floating or x.dtype.is_complex]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        result = eval(case.call, {"tf": tf, "np": np, **given})  # noqa: S307 (the table's own text)
        target = [weighed(tf, y) for y in tf.nest.flatten(result) if differentiable(tf, y)]
    gradients = tape.gradient(target, sources) if target else []
    return [result, [tf.convert_to_tensor(g) if hasattr(g, "indices") else g for g in gradients]]


def differentiable(tf: Any, y: Any) -> bool:
    """Whether a part of a result has a gradient."""
    return tf.is_tensor(y) and (y.dtype.is_floating or y.dtype.is_complex)


def weighed(tf: Any, y: Any) -> Any:
    """A number that depends on each element of a result in another way."""
    if y.dtype.is_complex:
        y = tf.math.real(y) + 2 * tf.math.imag(y)
    weights = np.cos(np.arange(int(tf.size(y)))).reshape(y.shape).astype(y.dtype.as_numpy_dtype)
    return tf.reduce_sum(y * weights)
