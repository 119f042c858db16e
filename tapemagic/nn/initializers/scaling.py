"""Initializers whose variance depends on the number of inputs and outputs, so that signals keep their variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.errors import OptionError
from tapemagic.nn.arguments import choice, number
from tapemagic.nn.initializers.distributions import RandomInitializer, truncated_normal

Axes = Sequence[int] | None

TRUNCATED_STDDEV = 0.8796256610342398
"""The standard deviation of a standard normal distribution that is truncated at -2 and 2."""

MODES = ("fan_in", "fan_out", "fan_avg")
DISTRIBUTIONS = ("truncated_normal", "untruncated_normal", "uniform", "normal")


def fans(
    shape: tuple[int, ...], input_axes: Axes = None, output_axes: Axes = None
) -> tuple[int, int]:
    """Return the numbers of inputs and outputs (fan-in and fan-out) of a layer with a kernel of `shape`.

    Kernels have the shape (..., inputs, outputs), where the leading axes are the window of a convolution. Without such
    axes, both numbers are the number of elements. `input_axes` and `output_axes`, if both are passed, override this.

    Examples
    --------
    >>> fans((3, 3, 8, 16)), fans((5,)), fans(())
    ((72, 144), (5, 5), (1, 1))
    """
    if input_axes is not None and output_axes is not None:
        places = (normalize_axis_tuple(axes, len(shape)) for axes in (input_axes, output_axes))
        inputs, outputs = (math.prod(shape[n] for n in each) for each in places)
        return inputs, outputs
    if len(shape) < 2:
        return math.prod(shape), math.prod(shape)
    window = math.prod(shape[:-2])
    return window * shape[-2], window * shape[-1]


class VarianceScaling(RandomInitializer):
    """Random numbers with mean 0 and variance ``scale / n``, where `n` is the fan-in, the fan-out, or their mean.

    For a convolution's kernel (..., inputs, outputs), fan-in and fan-out are multiplied by the size of the window.

    Parameters
    ----------
    scale : float, optional
        Positive.
    mode : {'fan_in', 'fan_out', 'fan_avg'}, optional
        The meaning of `n`, which is at least 1.
    distribution : {'truncated_normal', 'untruncated_normal', 'uniform'}, optional
        "normal" means "truncated_normal": no number is more than 2.27 standard deviations from 0.
    input_axes, output_axes : sequence of int, optional
        The axes of the inputs and outputs, if they are not the last two.

    Examples
    --------
    >>> from tapemagic import nn
    >>> kernel = nn.initializers.VarianceScaling(2.0, "fan_out", "uniform", seed=1)((300, 200))
    >>> round(float(kernel.std()), 2)
    0.1
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Any = None,
        input_axes: Axes = None,
        output_axes: Axes = None,
    ) -> None:
        super().__init__(seed)
        if not number(scale, "scale") > 0:
            raise OptionError(
                f"the scale of a variance must be positive, not {scale!r}: write scale=1.0"
            )
        self.scale = scale
        self.mode = choice(mode, "mode", MODES)
        name = choice(distribution, "distribution", DISTRIBUTIONS)
        self.distribution = "truncated_normal" if name == "normal" else name
        self.input_axes = input_axes
        self.output_axes = output_axes

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw numbers in double precision."""
        inputs, outputs = fans(shape, self.input_axes, self.output_axes)
        counted = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
        deviation = math.sqrt(self.scale / max(1, counted[self.mode]))
        if self.distribution == "uniform":
            # A uniform distribution between -a and a has the variance a**2 / 3.
            limit = math.sqrt(3) * deviation
            return rng.uniform(-limit, limit, shape)
        if self.distribution == "untruncated_normal":
            return rng.normal(0, deviation, shape)
        # Truncation reduces the variance, so the width is enlarged: cut-offs are at 2 / 0.8796 = 2.27 deviations.
        return deviation / TRUNCATED_STDDEV * truncated_normal(rng, shape)


class GlorotUniform(VarianceScaling):
    """Uniform random numbers between ±√(6 / (fan-in + fan-out)) [1]_, for layers with tanh or similar activations.

    References
    ----------
    .. [1] X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks",
       AISTATS 2010, equation 16.

    Examples
    --------
    >>> from tapemagic import nn
    >>> kernel = nn.initializers.GlorotUniform(seed=1)((300, 200))
    >>> round(float(kernel.std()), 3)
    0.063
    """

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        # A variance of 1 / fan-in keeps that of signals, 1 / fan-out that of gradients (equations 10 and 11 of [1]);
        # 2 / (fan-in + fan-out) is the compromise, equation 12.
        super().__init__(1.0, "fan_avg", "uniform", seed, input_axes, output_axes)


class GlorotNormal(VarianceScaling):
    """Normal random numbers with variance 2 / (fan-in + fan-out) [1]_, truncated at 2.27 standard deviations.

    References
    ----------
    .. [1] X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks",
       AISTATS 2010, equation 12.

    Examples
    --------
    >>> from tapemagic import nn
    >>> kernel = nn.initializers.GlorotNormal(seed=1)((300, 200))
    >>> round(float(kernel.std()), 3)
    0.063
    """

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, input_axes, output_axes)


class HeUniform(VarianceScaling):
    """Uniform random numbers between ±√(6 / fan-in) [1]_, for layers with relu.

    References
    ----------
    .. [1] K. He, X. Zhang, S. Ren and J. Sun, "Delving deep into rectifiers: surpassing human-level performance on
       ImageNet classification", ICCV 2015, equation 10.

    Examples
    --------
    >>> from tapemagic import nn
    >>> kernel = nn.initializers.HeUniform(seed=1)((300, 200))
    >>> round(float(kernel.std()), 3)
    0.082
    """

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        # Equation 10 of [1]: relu sets half of a symmetric signal to 0, so its variance must be doubled.
        super().__init__(2.0, "fan_in", "uniform", seed, input_axes, output_axes)


class HeNormal(VarianceScaling):
    """Normal random numbers with variance 2 / fan-in [1]_, truncated at 2.27 deviations, for layers with relu.

    References
    ----------
    .. [1] K. He, X. Zhang, S. Ren and J. Sun, "Delving deep into rectifiers: surpassing human-level performance on
       ImageNet classification", ICCV 2015, equation 10.

    Examples
    --------
    >>> from tapemagic import nn
    >>> kernel = nn.initializers.HeNormal(seed=1)((300, 200))
    >>> round(float(kernel.std()), 3)
    0.081
    """

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(2.0, "fan_in", "truncated_normal", seed, input_axes, output_axes)


class LecunUniform(VarianceScaling):
    """Uniform random numbers between ±√(3 / fan-in) [1]_.

    References
    ----------
    .. [1] Y. LeCun, L. Bottou, G. B. Orr and K.-R. Müller, "Efficient BackProp", in "Neural networks: tricks of the
       trade", 1998, equation 16.

    Examples
    --------
    >>> from tapemagic import nn
    >>> kernel = nn.initializers.LecunUniform(seed=1)((300, 200))
    >>> round(float(kernel.std()), 3)
    0.058
    """

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(1.0, "fan_in", "uniform", seed, input_axes, output_axes)


class LecunNormal(VarianceScaling):
    """Normal random numbers with variance 1 / fan-in [1]_, truncated at 2.27 deviations, for layers with selu.

    References
    ----------
    .. [1] Y. LeCun, L. Bottou, G. B. Orr and K.-R. Müller, "Efficient BackProp", in "Neural networks: tricks of the
       trade", 1998, equation 16.

    Examples
    --------
    >>> from tapemagic import nn
    >>> kernel = nn.initializers.LecunNormal(seed=1)((300, 200))
    >>> round(float(kernel.std()), 3)
    0.057
    """

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(1.0, "fan_in", "truncated_normal", seed, input_axes, output_axes)
