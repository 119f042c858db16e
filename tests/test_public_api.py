"""What ``import tapemagic`` offers, and that all of it is explained."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import tapemagic

PUBLIC = [
    "GradientTape",
    "Tensor",
    "UnconnectedGradients",
    "Variable",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "cast",
    "check_gradients",
    "clip_by_global_norm",
    "clip_by_norm",
    "constant",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "custom_gradient",
    "dropout",
    "elu",
    "erf",
    "erfc",
    "errors",
    "gather",
    "gather_nd",
    "gelu",
    "grad",
    "grad_pass_through",
    "gradients_function",
    "hard_sigmoid",
    "hessian",
    "hvp",
    "implicit_grad",
    "implicit_val_and_grad",
    "jacobian",
    "jvp",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "load_ipython_extension",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "make_vjp",
    "max_pool1d",
    "max_pool2d",
    "one_hot",
    "recompute_grad",
    "register_vjp",
    "relu",
    "relu6",
    "scatter_add",
    "scatter_nd",
    "segment_sum",
    "selu",
    "sigmoid",
    "sigmoid_cross_entropy",
    "silu",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy",
    "stop_gradient",
    "swish",
    "top_k",
    "unload_ipython_extension",
    "val_and_grad_function",
    "value_and_grad",
    "value_and_gradients_function",
    "vjp",
]
FOLDERS = {"analysis", "display", "engine", "ipython", "nbval"}
EXAMPLES = re.compile(r"Examples\n *-{8}\n\s*\S")


def test_all_is_pinned() -> None:
    """A public name comes or goes on purpose: the list here changes with it."""
    assert PUBLIC == tapemagic.__all__


def test_all_is_what_is_there() -> None:
    """No public name of ours is left out of ``__all__``; folders of the package are no offer."""
    for name in PUBLIC:
        getattr(tapemagic, name)  # the first mention loads it
    there = {name for name, offered in vars(tapemagic).items() if ours(offered)}

    assert set(PUBLIC) == {name for name in there - FOLDERS if not name.startswith("_")}


def ours(offered: Any) -> bool:
    """Whether an object is this package's, and not what a module needs to explain its types."""
    origin = offered.__name__ if inspect.ismodule(offered) else getattr(offered, "__module__", "")
    return origin.partition(".")[0] == "tapemagic"


def test_version() -> None:
    """There is a version number, and it is one that pip understands."""
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|(a|b|rc)\d+)?", tapemagic.__version__)


def undocumented(name: str, offered: Any) -> str | None:
    """What the documentation of a public object lacks, in words."""
    doc = vars(offered).get("__doc__") if inspect.isclass(offered) else offered.__doc__
    if not doc:
        return f"{name} has no docstring"
    if not EXAMPLES.search(doc) and not inspect.ismodule(offered):
        return f"{name} has no example in its docstring"
    return None


@pytest.mark.parametrize("name", PUBLIC)
def test_documented(name: str) -> None:
    """Every public name has a docstring; classes and functions have an example in it."""
    assert undocumented(name, getattr(tapemagic, name)) is None


def test_a_missing_docstring_is_found() -> None:
    """The check above can fail: for a class without words, and for words without an example."""

    class Bare(tapemagic.errors.TapeError):
        pass

    def described() -> None:
        """Says what it does, but shows nothing."""

    assert undocumented("Bare", Bare) == "Bare has no docstring"
    assert undocumented("described", described) == "described has no example in its docstring"
