"""Times convolutions and pooling against PyTorch, there and back, in one process: ``python -m benchmarks.convolution``.

PyTorch keeps channels before height and width, its default; both sides are given their own layout outside of what
is timed, and the gradient of the result is given too.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import tapemagic as tm
from benchmarks import threads
from benchmarks.run import arrays, medians
from benchmarks.workloads import Runs
from tapemagic.engine.operations.convolution import conv2d
from tapemagic.engine.operations.pooling import avg_pool2d, max_pool2d

# Images, size of the kernel, channels out, stride; the padding is the same on all sides.
CONVOLUTIONS = (
    ((32, 28, 28, 8), 3, 16, 1),
    ((32, 28, 28, 1), 3, 8, 1),
    ((32, 28, 28, 3), 5, 32, 1),
    ((32, 14, 14, 32), 3, 64, 1),
    ((32, 28, 28, 8), 3, 16, 2),
    ((1, 28, 28, 8), 3, 16, 1),
)

# Images, size, stride.
POOLS = (((32, 28, 28, 16), 2, 2), ((32, 28, 28, 16), 3, 2))


def convolution(dtype: Any, shape: Any, size: int, width: int, stride: int) -> Runs:
    """The gradients of a convolution in images and kernel."""
    rng = np.random.default_rng(0)
    x = tm.constant(rng.normal(size=shape).astype(dtype))
    kernel = tm.constant(rng.normal(size=(size, size, shape[-1], width)).astype(dtype))
    around = size // 2
    padding = [(around, around)] * 2
    g = tm.constant(rng.normal(size=conv2d(x, kernel, stride, padding).shape).astype(dtype))

    def ours() -> Any:
        with tm.GradientTape() as tape:
            tape.watch([x, kernel])
            y = conv2d(x, kernel, stride, padding)
        return tape.gradient(y, [x, kernel], g)

    tx, tg = channels_first(x).requires_grad_(), channels_first(g)
    weight = torch.tensor(kernel.numpy()).permute(3, 2, 0, 1).contiguous().requires_grad_()

    def theirs() -> Any:
        y = functional.conv2d(tx, weight, stride=stride, padding=around)
        dx, dk = torch.autograd.grad(y, [tx, weight], tg)
        return dx.permute(0, 2, 3, 1), dk.permute(2, 3, 1, 0)

    return {"tapemagic": ours, "torch": theirs}


def pooling(pool: Any, their_pool: Any, dtype: Any, shape: Any, size: int, stride: int) -> Runs:
    """The gradient of pooling."""
    rng = np.random.default_rng(0)
    x = tm.constant(rng.normal(size=shape).astype(dtype))
    g = tm.constant(rng.normal(size=pool(x, size, stride).shape).astype(dtype))

    def ours() -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = pool(x, size, stride)
        return [tape.gradient(y, x, g)]

    tx, tg = channels_first(x).requires_grad_(), channels_first(g)

    def theirs() -> Any:
        (dx,) = torch.autograd.grad(their_pool(tx, size, stride), tx, tg)
        return [dx.permute(0, 2, 3, 1)]

    return {"tapemagic": ours, "torch": theirs}


def channels_first(x: Any) -> Any:
    """Images as PyTorch keeps them."""
    return torch.tensor(x.numpy()).permute(0, 3, 1, 2).contiguous()


def workloads(dtype: Any) -> dict[str, Runs]:
    """Everything that is timed in one precision, by name."""
    named = {
        f"{'×'.join(map(str, shape))}, {size}×{size} to {width}, stride {stride}": convolution(
            dtype, shape, size, width, stride
        )
        for shape, size, width, stride in CONVOLUTIONS
    }
    for word, pool, theirs in (
        ("maximum", max_pool2d, functional.max_pool2d),
        ("average", avg_pool2d, functional.avg_pool2d),
    ):
        for shape, size, stride in POOLS:
            name = f"{'×'.join(map(str, shape))}, {word} of {size}×{size}, stride {stride}"
            named[name] = pooling(pool, theirs, dtype, shape, size, stride)
    return named


def agree(runs: Runs, tolerance: float) -> None:
    """Fail unless both find the same gradients."""
    for ours, theirs in zip(arrays(runs["tapemagic"]()), arrays(runs["torch"]()), strict=True):
        np.testing.assert_allclose(
            ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max()
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to time each of them")
    parser.add_argument("--only", default="", help="a word of what to time")
    threads.add_option(parser)
    options = parser.parse_args()
    threads.limit(options.threads)
    print("| forwards and back | precision | tapemagic, ms | PyTorch, ms | × PyTorch |")
    print("|---|---|--:|--:|--:|")
    for dtype, tolerance in (("float64", 1e-10), ("float32", 1e-4)):
        for name, runs in workloads(dtype).items():
            if options.only not in name:
                continue
            agree(runs, tolerance)
            took = medians(runs, options.seconds)
            ours, theirs = took["tapemagic"] / 1e3, took["torch"] / 1e3
            print(
                f"| {name} | {dtype} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
