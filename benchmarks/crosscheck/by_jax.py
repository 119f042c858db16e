"""A program differentiated by JAX, which compiles it."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.crosscheck.answers import Answers, small
from benchmarks.crosscheck.functions import NumpyLike
from benchmarks.crosscheck.programs import Function, Library, Program, execute

COMPILER = ["--xla_backend_optimization_level=0", "--xla_cpu_use_fusion_emitters=false"]
"""Options with which JAX's compiler takes a third of the time; the environment may say otherwise."""

if platform.machine() in {"x86_64", "AMD64"}:
    # Without fused multiplications and additions an extreme is rounded like what it was found among.
    COMPILER.append("--xla_cpu_max_isa=SSE4_2")


def jax_backend() -> Callable[[Program], Answers]:
    """JAX in double precision; each program is compiled, with few optimisations, since it runs once.

    JAX's gradients are dL/da - i dL/db for z = a + ib: they are conjugated on their way in and out.
    """
    os.environ.setdefault("XLA_FLAGS", " ".join(COMPILER))
    import jax
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def loop(times: int, body: Any, x: Any, others: Any) -> Any:
        return jax.lax.fori_loop(0, times, lambda _, v: body(v, *others), x)

    def branch(test: Any, yes: Any, no: Any, args: Any) -> Any:
        return jax.lax.cond(test > 0, yes, no, *args)

    functions = NumpyLike(jnp, jax_neural())
    functions.update(jax_differences())
    library = Library(functions, loop, branch)

    def pull(function: Any, xs: Any, weights: Any) -> Any:
        """The gradients of a function, and its values."""
        ys, back = jax.vjp(function, *xs)
        return [jnp.conj(dx) for dx in back([jnp.conj(w) for w in weights])], ys

    def answers(program: Program) -> Answers:
        def values(*xs: Any) -> Any:
            return execute(program.block, library, xs)

        def jacobians(*xs: Any) -> Any:
            y, back = jax.vjp(lambda *vs: values(*vs)[0], *xs)
            units = jnp.eye(y.size, dtype=y.dtype).reshape((y.size, *y.shape))
            rows = jax.vmap(back)(units)
            return [
                jnp.conj(row).reshape(y.shape + x.shape) for row, x in zip(rows, xs, strict=True)
            ]

        def everything(*xs: Any) -> Any:
            def gradients(*vs: Any) -> Any:
                return pull(values, vs, program.weights)

            found, back, ys = jax.vjp(gradients, *xs, has_aux=True)
            second = back([jnp.conj(v) for v in program.directions])
            answers = {
                "values": ys,
                "gradients": found,
                "second": [jnp.conj(dx) for dx in second],
                "tangents": jax.jvp(values, xs, program.directions)[1],
            }
            return answers | ({"jacobians": jacobians(*xs)} if small(program) else {})

        found = jax.jit(everything)(*program.points)
        return Answers({name: [np.asarray(x) for x in xs] for name, xs in found.items()})

    def forgetful(program: Program) -> Answers:
        if program.seed % 50 == 0:
            jax.clear_caches()
        return answers(program)

    return forgetful


def jax_differences() -> dict[str, Function]:
    """The operations for which JAX 0.10.2 needs help.

    Its Fourier transforms raise errors where they meet a transposed array in a compiled program ("RET_CHECK
    failure ... fft_thunk.cc"), so they are products with matrices that NumPy computes. The sign of a complex
    number is a constant for JAX. Derivatives of eigenvectors have to be asked for.
    """
    import jax
    from jax import numpy as jnp

    def transform(name: str) -> Function:
        function = getattr(np.fft, name)

        def along(x: Any, axis: int, **params: Any) -> Any:
            units = np.eye(x.shape[axis])
            y = jnp.tensordot(function(units, axis=0, **params), jnp.real(x), (1, axis))
            if jnp.iscomplexobj(x):
                y += jnp.tensordot(function(1j * units, axis=0, **params), jnp.imag(x), (1, axis))
            return jnp.moveaxis(y, 0, axis)

        return along

    def sign(x: Any) -> Any:
        return x / jnp.abs(x) if jnp.iscomplexobj(x) else jnp.sign(x)

    def general(a: Any) -> Any:
        w, v = jax.lax.linalg.eig(a, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
        y = (v * jnp.exp(w)[..., None, :]) @ jnp.linalg.inv(v)
        return y if jnp.iscomplexobj(a) else jnp.real(y)

    found = {f"fft.{name}": transform(name) for name in ("fft", "ifft", "rfft", "irfft")}
    fft = found["fft.fft"]
    return found | {
        "sign": sign,
        "general": general,
        "fft.fft2": lambda x: fft(fft(x, axis=-1), axis=-2),
    }


def jax_neural() -> SimpleNamespace:
    """Functions of neural networks with tapemagic's arguments."""
    import jax

    names = "elu log_softmax relu relu6 selu sigmoid silu softmax softplus"
    return SimpleNamespace(
        erf=jax.scipy.special.erf,
        erfc=jax.scipy.special.erfc,
        gelu=jax.nn.gelu,
        leaky_relu=lambda x, alpha: jax.nn.leaky_relu(x, alpha),  # noqa: PLW0108 (by keyword)
        log_sigmoid=jax.nn.log_sigmoid,
        logsumexp=jax.nn.logsumexp,
        softsign=jax.nn.soft_sign,
        conv2d=lambda x, kernel, strides, padding: jax.lax.conv_general_dilated(
            x, kernel, (strides, strides), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        **{name: getattr(jax.nn, name) for name in names.split()},
    )
