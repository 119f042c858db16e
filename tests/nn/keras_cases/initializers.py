"""Initializers: exact values without random numbers, statistics with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case, statistics


def described(numbers: Any, bounded: bool) -> Any:
    """Mean, standard deviation and quantiles; of bounded distributions also the extremes."""
    levels = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
    levels = [0, *levels, 1] if bounded else levels
    return np.array([numbers.mean(), numbers.std(), *np.quantile(numbers, levels)])


def of_names(k: Any, names: str, shape: tuple[int, ...], **options: Any) -> Arrays:
    """Statistics of the numbers of initializers in a shape."""
    found = {}
    for name in names.split():
        numbers = k.array(getattr(k.initializers, name)(seed=1, **options)(shape))
        found[name] = described(numbers, name != "RandomNormal")
        found[f"{name}_shape"] = np.array(numbers.shape)
    return found


SCALED = "GlorotUniform GlorotNormal HeUniform HeNormal LecunUniform LecunNormal"


@statistics(0.03)
def matrices(k: Any, _rng: np.random.Generator) -> Arrays:
    """Kernels of dense layers, with many more inputs than outputs."""
    names = f"{SCALED} RandomNormal RandomUniform TruncatedNormal"
    return of_names(k, names, (800, 50))


@statistics(0.03)
def kernels(k: Any, _rng: np.random.Generator) -> Arrays:
    """Kernels of convolutions."""
    return of_names(k, SCALED, (3, 5, 16, 160))


@statistics(0.03)
def vectors(k: Any, _rng: np.random.Generator) -> Arrays:
    """Biases, and kernels whose inputs and outputs are elsewhere."""
    found = of_names(k, SCALED, (40000,))
    other = of_names(k, SCALED, (4, 200, 50), input_axes=(1, 2), output_axes=(0,))
    return found | {f"axes_{name}": x for name, x in other.items()}


@statistics(0.03)
def scaled(k: Any, _rng: np.random.Generator) -> Arrays:
    """Every mode and distribution of VarianceScaling."""
    found = {}
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for distribution in ("truncated_normal", "untruncated_normal", "uniform", "normal"):
            initializer = k.initializers.VarianceScaling(1.5, mode, distribution, seed=1)
            bounded = distribution != "untruncated_normal"
            found[f"{mode}_{distribution}"] = described(k.array(initializer((800, 50))), bounded)
    return found


@statistics(0.03)
def limits(k: Any, _rng: np.random.Generator) -> Arrays:
    """Distributions with other means and widths."""
    i, shape = k.initializers, (200, 200)
    return {
        "normal": described(k.array(i.RandomNormal(2.0, 0.5, seed=1)(shape)), False),
        "truncated": described(k.array(i.TruncatedNormal(-1.0, 0.5, seed=1)(shape)), True),
        "uniform": described(k.array(i.RandomUniform(1.0, 3.0, seed=1)(shape)), True),
    }


@case
def orthogonal(k: Any, _rng: np.random.Generator) -> Arrays:
    """Products of rows or columns of orthogonal kernels."""
    found = {}
    for shape in ((6, 4), (4, 6), (5, 5), (2, 3, 4), (3, 3, 2, 30)):
        numbers = k.array(k.initializers.Orthogonal(gain=1.5, seed=1)(shape))
        flat = np.reshape(numbers, (-1, shape[-1]))
        flat = flat if len(flat) >= shape[-1] else flat.T
        found[f"{shape}"] = np.round(flat.T @ flat, 4) + 0.0
    return found


@case
def constants(k: Any, _rng: np.random.Generator) -> Arrays:
    """Zeros, ones, constants and identities, by their names, too."""
    i = k.initializers
    return {
        "zeros": k.array(i.get("zeros")((2, 3))),
        "ones": k.array(i.get("Ones")((2, 3), dtype="float16")),
        "constant": k.array(i.Constant(1.5)((2, 3), "float64")),
        "array": k.array(i.Constant(np.array([1.0, 2.0, 3.0]))((2, 3))),
        "scalar": k.array(i.Constant(2)(())),
        "whole": k.array(i.Ones()((2,), dtype="int32")),
        "identity": k.array(i.Identity(2.0)((3, 2))),
        "given": k.array(i.get(np.array([[1.0, 2.0]]))((1, 2))),
    }
