"""What a program may do next: each action adds a step or a few, on values that suit it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.crosscheck.drafts import Draft, Impossible, broadcasts, stretches

Act = Callable[[Draft], int]


@dataclass(frozen=True)
class Action:
    """A way to add steps.

    Attributes
    ----------
    act : callable
        Adds them to a draft, and returns the number of the last value, or raises `Impossible`.
    needs : tuple of str
        The operations that it uses.
    weight : float
        How often it is drawn.
    anywhere : bool
        Whether it keeps its domain on any values, so that a loop may hold it.
    """

    act: Act
    needs: tuple[str, ...]
    weight: float
    anywhere: bool


ACTIONS: list[Action] = []


def action(*needs: str, weight: float = 1.0, anywhere: bool = False) -> Callable[[Act], Act]:
    """Register what follows as an action."""

    def register(act: Act) -> Act:
        ACTIONS.append(Action(act, needs, weight, anywhere))
        return act

    return register


def options(d: Draft, i: int, single: bool = False) -> dict[str, Any]:
    """An axis, or several, or all, and whether to keep them."""
    n = d.values[i].ndim
    axis: Any = None
    if n and d.chance(0.7):
        axis = d.axis(i)
        if not single and n > 1 and d.chance(0.3):
            axis = (axis, (axis + 1) % n if axis >= 0 else (axis + 1) % n - n)
    return {"axis": axis, **({"keepdims": True} if d.chance(0.4) else {})}


# -- elementwise ----------------------------------------------------------------------------------

DOMAINS: dict[str, tuple[float, float]] = {
    "sin": (-9, 9), "cos": (-9, 9), "tan": (-1.1, 1.1), "arcsin": (-0.9, 0.9),
    "arccos": (-0.9, 0.9), "arctan": (-9, 9), "sinh": (-2, 2), "cosh": (-2, 2), "tanh": (-9, 9),
    "arcsinh": (-9, 9), "arccosh": (1.3, 5), "arctanh": (-0.8, 0.8), "exp": (-3, 1.5),
    "exp2": (-3, 2), "expm1": (-3, 1.5), "log": (0.3, 6), "log2": (0.3, 6), "log10": (0.3, 6),
    "log1p": (-0.6, 5), "sqrt": (0.2, 6), "cbrt": (0.2, 6), "square": (-2, 2),
    "reciprocal": (0.4, 4), "negative": (-9, 9), "sinc": (-3, 3), "deg2rad": (-9, 9),
    "rad2deg": (-1, 1), "i0": (-3, 3),
}  # fmt: skip
"""Functions of a real number, and where they and their derivatives are neither large nor undefined."""

ENTIRE = ("sin", "cos", "exp", "sinh", "cosh", "tanh", "arctan", "arcsinh", "square", "negative")
HALF_PLANE = ("sqrt", "log", "reciprocal")
"""Functions of a complex number inside the unit circle, and of one on the right of 0."""


def _unary(name: str) -> None:
    @action(name, weight=0.35, anywhere=name != "sinc")
    def act(d: Draft) -> int:
        i = d.confine(d.real(), *DOMAINS[name])
        if name == "sinc":  # of which PyTorch has no second derivative at 0
            d.apart(d.values[i])
        return d.emit(name, i)


for _name in DOMAINS:
    _unary(_name)


def complex_value(d: Draft, least: int = 0) -> int:
    """A complex value."""
    return d.pick(lambda v: v.dtype.kind == "c" and v.ndim >= least)


@action(*ENTIRE, weight=3.0)
def entire(d: Draft) -> int:
    """A holomorphic function."""
    return d.emit(d.one(ENTIRE), d.within(complex_value(d), 0.8))


@action(*HALF_PLANE, weight=2.0)
def half_plane(d: Draft) -> int:
    """A holomorphic function away from its branch cut."""
    return d.emit(d.one(HALF_PLANE), d.emit("plus", d.within(complex_value(d), 1.0), by=1.5))


@action("real", "imag", "conjugate", "absolute", "angle", "sign", weight=3.0)
def complex_part(d: Draft) -> int:
    """A function of a complex number that is not holomorphic."""
    i = complex_value(d)
    name = d.one(("real", "imag", "conjugate", "absolute", "angle", "sign"))
    if name in {"absolute", "angle", "sign"}:
        i = d.emit("plus", d.within(i, 1.0), by=1.5)
    return d.emit(name, i)


@action("*", weight=1.0, anywhere=True)
def make_complex(d: Draft) -> int:
    """A complex number of two real ones, where the program has others."""
    complex_value(d)
    i = d.real()
    return d.emit("+", i, d.emit("times", d.matching(i, "f"), by=1j))


@action("absolute", weight=0.5)
def absolute(d: Draft) -> int:
    """A distance from zero, away from it."""
    i = d.real()
    d.apart(d.values[i])
    return d.emit("absolute", i)


@action("floor", "sign", weight=0.3)
def steps(d: Draft) -> int:
    """A function that is constant almost everywhere, times another."""
    i = d.real()
    d.apart(d.values[i] - np.round(d.values[i]))
    return d.emit("*", d.emit(d.one(("floor", "sign")), i), d.matching(i))


@action("+", "-", "*", "add", "subtract", "multiply", weight=5.0, anywhere=True)
def arithmetic(d: Draft) -> int:
    """Two values that broadcast."""
    i = d.pick()
    pair = [i, d.matching(i)]
    d.rng.shuffle(pair)
    return d.emit(d.one(("+", "-", "*", "add", "subtract", "multiply")), *pair)


@action("+", weight=2.0, anywhere=True)
def with_number(d: Draft) -> int:
    """A value and a Python number."""
    op = d.one(("times", "plus", "from"))
    return d.emit(op, d.pick(), by=d.one((0.5, -1.5, 2, 3.0, -0.25)))


@action("/", "divide", weight=1.5, anywhere=True)
def quotient(d: Draft) -> int:
    """By something away from zero."""
    i = d.pick()
    below = d.confine(d.matching(i, "f"), 0.4, 4.0)
    if d.chance(0.2):
        return d.emit("over", below, by=d.one((1.0, 2, -0.5)))
    return d.emit(d.one(("/", "divide")), i, below)


@action("**", "power", "float_power", weight=1.0)
def power(d: Draft) -> int:
    """Powers of positive numbers, and whole powers of any."""
    i = d.real()
    if d.chance(0.5):
        return d.emit("raised", d.confine(i, -1.5, 1.5), by=d.one((2, 3, 2.0)))
    base = d.confine(i, 0.4, 3.0)
    if d.chance(0.3):
        return d.emit("raised", base, by=d.one((0.5, -1, 1.7, -2)))
    exponent = d.confine(d.matching(i, "f"), -2.0, 2.0)
    d.apart(d.values[exponent])  # where it is 0, PyTorch's second derivative is 0
    return d.emit(d.one(("**", "power", "float_power")), base, exponent)


@action("maximum", "minimum", "fmax", "fmin", weight=1.0)
def extreme_of_two(d: Draft) -> int:
    """The larger or the smaller of two, which are not equal."""
    i = d.real()
    j = d.matching(i, "f")
    d.apart(d.values[i] - d.values[j])
    return d.emit(d.one(("maximum", "minimum", "fmax", "fmin")), i, j)


@action("arctan2", "hypot", "logaddexp", "logaddexp2", weight=1.5, anywhere=True)
def of_two(d: Draft) -> int:
    """Functions of two, one of them kept positive."""
    i = d.real()
    j = d.confine(d.matching(i, "f"), 0.4, 3.0)
    return d.emit(d.one(("arctan2", "hypot", "logaddexp", "logaddexp2")), i, j)


@action("remainder", "fmod", weight=0.4)
def remainder(d: Draft) -> int:
    """A remainder away from its jumps."""
    i = d.real()
    j = d.confine(d.matching(i, "f"), 0.4, 3.0)
    quotients = d.values[i] / d.values[j]
    d.apart(quotients - np.round(quotients))
    return d.emit(d.one(("remainder", "fmod")), i, j)


@action("where", weight=1.5)
def choice(d: Draft) -> int:
    """One value or another, as two more compare."""
    i = d.real()
    j = d.matching(i, "f")
    difference = d.values[i] - d.values[j]
    d.apart(difference)
    k = d.pick(lambda v: broadcasts(v.shape, difference.shape))
    shape = np.broadcast_shapes(d.values[k].shape, difference.shape)
    return d.emit("where_greater", i, j, k, d.pick(lambda v: broadcasts(v.shape, shape)))


@action("select", weight=0.5)
def selection(d: Draft) -> int:
    """The first of two values whose condition holds, or a third one."""
    i = d.real()
    shape = d.values[i].shape
    options = [d.pick(lambda v: stretches(v.shape, shape)) for _ in range(2)]
    conditions = [d.rng.random(shape) < 0.5 for _ in range(2)]
    if i not in d.varying:  # NumPy does not tell tensors that they are the default
        raise Impossible
    return d.emit("select", i, *options, conditions=conditions)


@action("interp", weight=0.5)
def interpolated(d: Draft) -> int:
    """A polygon at some places, which are not its corners."""
    i = d.confine(d.real(), -2.8, 2.8)
    corners = np.array([-3.0, -1.2347, 0.3171, 0.9133, 3.0])
    d.apart(*(d.values[i] - corner for corner in corners))
    return d.emit("interp", i, d.constant(corners), d.normal((5,)))


@action("polyval", weight=0.5, anywhere=True)
def polynomial(d: Draft) -> int:
    """A polynomial whose coefficients are values, too."""
    i = d.pick(lambda v: v.ndim == 1)
    return d.emit("polyval", i, d.confine(d.real(), -1.2, 1.2))


@action("clip", weight=0.7)
def clip(d: Draft) -> int:
    """Between two numbers, none of which is reached exactly."""
    i = d.real()
    ends = {"min": d.one((-1.05, -0.31, None)), "max": d.one((0.27, 0.83))}
    d.apart(*(d.values[i] - end for end in ends.values() if end is not None))
    return d.emit("clip", i, **ends)


# -- neural networks --------------------------------------------------------------------------------

SMOOTH = ("sigmoid", "softplus", "silu", "log_sigmoid", "softsign", "erf", "erfc")
KINKED = ("relu", "relu6", "selu", "elu", "leaky_relu")


@action(*(f"nn.{name}" for name in (*SMOOTH, "gelu")), weight=1.5, anywhere=True)
def activation(d: Draft) -> int:
    """A smooth activation function."""
    i = d.confine(d.real(), -3.0, 3.0)
    if d.chance(0.2):
        return d.emit("nn.gelu", i, approximate=d.chance(0.5))
    return d.emit(f"nn.{d.one(SMOOTH)}", i)


@action(*(f"nn.{name}" for name in KINKED), weight=1.0)
def rectifier(d: Draft) -> int:
    """An activation function away from its kinks."""
    i = d.real()
    d.apart(d.values[i], d.values[i] - 6.0)
    name = d.one(KINKED)
    params = {"elu": {"alpha": 0.7}, "leaky_relu": {"alpha": 0.2}}.get(name, {})
    return d.emit(f"nn.{name}", i, **params)


@action("nn.softmax", "nn.log_softmax", "nn.logsumexp", weight=1.0, anywhere=True)
def normalised(d: Draft) -> int:
    """Shares of exponentials, their logarithms, and that of their sum."""
    i = d.confine(d.real(least=1), -4.0, 4.0)
    name = d.one(("softmax", "log_softmax", "logsumexp"))
    return d.emit(
        f"nn.{name}", i, **(options(d, i) if name == "logsumexp" else {"axis": d.axis(i)})
    )
