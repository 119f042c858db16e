"""Sums, means, extremes, products and running totals over any axes of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.laws import check_affine, check_linear, check_smooth, gradient, refused_alike
from tests.properties.strategies import (
    apart,
    arrays,
    axes_of,
    axis_of,
    masks,
    reduced_axes,
    shapes,
    smaller,
    whole,
)

pytestmark = pytest.mark.thorough


@st.composite
def options(draw: st.DrawFn, ndim: int) -> dict[str, Any]:
    """An axis, or several, and perhaps keepdims."""
    found = {"axis": draw(reduced_axes(ndim))}
    if draw(st.booleans()):
        found["keepdims"] = draw(st.booleans())
    return found


@pytest.mark.parametrize("function", [np.sum, np.nansum, np.add.reduce])
@given(st.data())
def test_sum(function: Any, data: st.DataObject) -> None:
    """Sums over no axis, some or all, of everything or where a mask is true."""
    x = data.draw(arrays(shapes()))
    chosen = data.draw(options(x.ndim))
    if data.draw(st.booleans()):
        chosen["where"] = data.draw(masks(data.draw(smaller(x.shape))))

    check_linear(lambda v: function(v, **chosen), x)


@given(st.data())
def test_running_sum(data: st.DataObject) -> None:
    """``np.cumsum`` along an axis, or of all elements in a row."""
    x = data.draw(arrays(shapes()))
    axis = data.draw(st.none() | axis_of(x.ndim) if x.ndim else st.none())

    check_linear(lambda v: np.cumsum(v, axis=axis), x)


@st.composite
def factors(draw: st.DrawFn, most: int) -> Any:
    """Factors of which some are zero and the others 1 or 2, so that their products are exact."""
    x = 2.0 ** (whole(np.empty(draw(shapes(most=most)))) // 4)
    return np.where(draw(masks(x.shape)), x, 0.0)[()]


@given(st.data())
def test_running_product(data: st.DataObject) -> None:
    """``np.cumprod`` is affine in each factor, also through zeros."""
    x = data.draw(factors(most=2))
    axis = data.draw(st.none() | axis_of(x.ndim) if x.ndim else st.none())

    check_affine(lambda v: np.cumprod(v, axis=axis), x)


@given(st.data())
def test_product(data: st.DataObject) -> None:
    """``np.prod`` is affine in each factor, also through any number of zeros."""
    x = data.draw(factors(most=3))
    chosen = data.draw(options(x.ndim))

    check_affine(lambda v: np.prod(v, **chosen), x)


@pytest.mark.parametrize(
    "name", ["mean", "nanmean", "prod", "nanprod", "max", "min", "nanmax", "nanmin"]
)
@given(st.data())
def test_reduction(name: str, data: st.DataObject) -> None:
    """The usual reductions, also where a mask is true."""
    function = getattr(np, name)
    x = apart(data.draw(shapes(most=3)))
    chosen = data.draw(options(x.ndim))
    if data.draw(st.booleans()):
        chosen["where"] = data.draw(masks(data.draw(smaller(x.shape))))
        if name.endswith(("max", "min")):
            chosen["initial"] = -9.0 if name.endswith("max") else 9.0

    def call(v: Any) -> Any:
        return function(v, **chosen)

    if not refused_alike(call, x):
        check_smooth(call, x)


@pytest.mark.parametrize("function", [np.var, np.std, np.nanvar, np.nanstd])
@given(st.data())
def test_spread(function: Any, data: st.DataObject) -> None:
    """Variances and deviations, with degrees of freedom taken away."""
    x = apart(data.draw(shapes(most=3)))
    chosen = data.draw(options(x.ndim)) | {"ddof": data.draw(st.integers(0, 1))}
    if data.draw(st.booleans()):
        chosen["where"] = data.draw(masks(data.draw(smaller(x.shape))))

    def call(v: Any) -> Any:
        return function(v, **chosen)

    if not refused_alike(call, x):
        check_smooth(call, x)


@given(st.data())
def test_spread_of_complex_numbers(data: st.DataObject) -> None:
    """The variance of complex numbers is a real one."""
    shape = data.draw(shapes(most=3))
    x = apart(shape) + 1j * apart(shape, seed=1)
    chosen = data.draw(options(x.ndim))

    def call(v: Any) -> Any:
        return np.var(v, **chosen)

    if not refused_alike(call, x):
        check_smooth(call, x)


@pytest.mark.parametrize("function", [np.median, np.nanmedian, np.ptp])
@given(st.data())
def test_middle_and_range(function: Any, data: st.DataObject) -> None:
    """Medians of odd and even numbers of elements, and ranges."""
    x = apart(data.draw(shapes(most=3, shortest=1)))
    chosen = data.draw(options(x.ndim))

    check_smooth(lambda v: function(v, **chosen) ** 2, x)


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
@given(st.data())
def test_quantiles(name: str, data: st.DataObject) -> None:
    """Quantiles of any method, one or several."""
    function = getattr(np, name)
    x = apart(data.draw(shapes(most=3, shortest=1)))
    chosen = data.draw(options(x.ndim))
    q = data.draw(st.sampled_from([0.0, 0.3, 1.0, [0.2, 0.9], [[0.5], [0.1]]]))
    q = np.multiply(q, 100.0 if "percent" in name else 1.0)
    if name.startswith("nan") and isinstance(chosen.get("axis"), tuple):
        q = (
            q.ravel()
        )  # with q of two axes NumPy puts the axes of the result into a wrong order: refused
    chosen["method"] = data.draw(
        st.sampled_from(["linear", "lower", "nearest", "midpoint", "hazen", "median_unbiased"])
    )

    check_smooth(lambda v: function(v, q, **chosen) ** 2, x)


@given(st.data())
def test_average(data: st.DataObject) -> None:
    """Weighted averages, the weights being as many as elements, or as places on the axes."""
    x = apart(data.draw(shapes(most=3, shortest=1)))
    several = data.draw(axes_of(x.ndim, least=min(x.ndim, 1)))
    axis = data.draw(st.sampled_from([several, several[0]] if len(several) == 1 else [several]))
    along = tuple(x.shape[one] for one in several)
    shape = data.draw(st.sampled_from([x.shape, along]))
    weights = apart(shape, 0.5, 2.0, seed=1)
    keepdims = data.draw(st.booleans())

    def call(v: Any, w: Any) -> Any:
        return np.average(v, axis=axis, weights=w, keepdims=keepdims)

    check_smooth(call, x, weights)


@given(st.data())
def test_ties(data: st.DataObject) -> None:
    """The largest elements share the gradient evenly, along any axes."""
    shape = data.draw(shapes(most=3, shortest=1))
    x = np.abs(whole(np.empty(shape))) // 2
    chosen = data.draw(options(x.ndim))
    chosen["keepdims"] = True

    found = gradient(lambda v: np.max(v, **chosen), x, None).numpy()

    largest = x == np.max(x, **chosen)
    np.testing.assert_allclose(found, largest / np.sum(largest, **chosen))


@given(st.data())
def test_sum_of_a_reduction(data: st.DataObject) -> None:
    """What is centred has a derivative without a constant part, whatever was kept or dropped."""
    x = apart(data.draw(shapes(least=1, most=3, shortest=1)))
    axes = data.draw(reduced_axes(x.ndim))

    def call(v: Any) -> Any:
        centred = v - np.mean(v, axis=axes, keepdims=True)
        return np.sum(centred**2, axis=axes) / np.sum(np.exp(v), axis=axes)

    check_smooth(call, x)
