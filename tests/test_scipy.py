"""SciPy's solvers take derivatives of tapemagic: every method by every way to pass them, with plain results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import FunctionError, NotATensorError, ShapeError
from tapemagic.explain.advice import LOG_DENSITIES

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

pytestmark = pytest.mark.filterwarnings("error")

START = np.array([1.3, 1.5, 2.0])  # the Hessian is positive definite, as dogleg demands


def rosenbrock(x: Any) -> Any:
    """The usual test of minimizers, with a less steep valley, so that every method arrives in few steps."""
    return np.sum(5 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def by_hand(x: Any) -> Any:
    """The gradient of `rosenbrock`, written by hand."""
    gradient = np.zeros_like(x)
    gradient[1:] += 10 * (x[1:] - x[:-1] ** 2)
    gradient[:-1] += -20 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    return gradient


def residuals(x: Any) -> Any:
    """The residuals of `rosenbrock` of two numbers."""
    return np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def decay(t: Any, a: Any, k: Any) -> Any:
    """A curve to fit."""
    return a * np.exp(-k * t)


def decay_slopes(t: Any, a: Any, k: Any) -> Any:
    """The Jacobian of `decay` as curve_fit wants it: a column per parameter."""
    return np.stack(tm.jacobian(decay, argnums=(1, 2))(t, a, k), axis=-1)


def van_der_pol(t: Any, y: Any) -> Any:  # noqa: ARG001 (solve_ivp passes the time)
    """A stiff equation."""
    return np.stack([y[1], 50 * (1 - y[0] ** 2) * y[1] - y[0]])


def assert_plain(result: Any) -> None:
    """No tensor is anywhere in a result of SciPy, nor an array of objects."""
    assert not isinstance(result, (tm.Tensor, tm.Variable))
    assert not (isinstance(result, np.ndarray) and result.dtype == object)
    parts: Any = result.values() if isinstance(result, dict) else result
    if isinstance(result, (dict, list, tuple)):
        for part in parts:
            assert_plain(part)


FIRST: dict[str, tuple[Any, Any]] = {
    "jac=True": (tm.value_and_grad(rosenbrock), True),
    "jac=grad": (rosenbrock, tm.grad(rosenbrock)),
    "jac=True of a program": (tm.function(tm.value_and_grad(rosenbrock)), True),
    "jac=program": (rosenbrock, tm.function(tm.grad(rosenbrock))),
}

SECOND: dict[str, dict[str, Any]] = {
    "alone": {},
    "hess=": {"hess": tm.hessian(rosenbrock)},
    "hess=program": {"hess": tm.function(tm.hessian(rosenbrock))},
    "hessp=": {"hessp": tm.hvp(rosenbrock)},
}

WITH_FIRST = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG", "trust-constr")
WITH_HESSIAN = ("Newton-CG", "trust-constr", "dogleg", "trust-ncg", "trust-exact", "trust-krylov")
WITH_PRODUCT = ("Newton-CG", "trust-constr", "trust-ncg", "trust-krylov")

TABLE = [
    (method, first, second)
    for second, methods in (
        ("alone", WITH_FIRST),
        ("hess=", WITH_HESSIAN),
        ("hess=program", WITH_HESSIAN),
        ("hessp=", WITH_PRODUCT),
    )
    for method in methods
    for first in FIRST
]


@pytest.mark.parametrize(("method", "first", "second"), TABLE)
def test_minimize(method: str, first: str, second: str) -> None:
    """Each method finds the minimum, and as exactly as its tolerance promises."""
    function, jac = FIRST[first]

    found = optimize.minimize(function, START, method=method, jac=jac, **SECOND[second])

    assert found.success
    np.testing.assert_allclose(found.x, 1.0, atol=2e-3)
    assert_plain(dict(found))


@pytest.mark.parametrize("method", WITH_FIRST)
def test_same_steps_as_by_hand(method: str) -> None:
    """A solver takes the steps that it takes with a gradient written by hand."""
    ours = optimize.minimize(tm.value_and_grad(rosenbrock), START, jac=True, method=method)
    theirs = optimize.minimize(rosenbrock, START, jac=by_hand, method=method)

    assert ours.nit == theirs.nit
    np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-6)


def of_a_disk(x: Any) -> Any:
    """Positive inside of a circle that excludes the minimum."""
    return 1.5 - x[0] ** 2 - x[1] ** 2


def weighted_hessian(x: Any, v: Any) -> Any:
    """The Hessian of the constraint, as NonlinearConstraint wants it."""
    return tm.hessian(lambda x: np.sum(v * of_a_disk(x)))(x)


CONSTRAINTS: dict[str, tuple[str, Callable[[], Any], float]] = {
    "SLSQP, a dict": (
        "SLSQP",
        lambda: {"type": "ineq", "fun": of_a_disk, "jac": tm.grad(of_a_disk)},
        1e-6,
    ),
    "SLSQP, an object": (
        "SLSQP",
        lambda: optimize.NonlinearConstraint(of_a_disk, 0, np.inf, jac=tm.jacobian(of_a_disk)),
        1e-6,
    ),
    "trust-constr": (
        "trust-constr",
        lambda: optimize.NonlinearConstraint(
            of_a_disk, 0, np.inf, jac=tm.jacobian(of_a_disk), hess=weighted_hessian
        ),
        1e-3,
    ),
}


@pytest.mark.parametrize(("method", "constraint", "near"), CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_constraints(method: str, constraint: Callable[[], Any], near: float) -> None:
    """The minimum lies on the circle, where the gradients of function and constraint are parallel."""
    found = optimize.minimize(
        tm.value_and_grad(rosenbrock), START[:2], jac=True, method=method, constraints=constraint()
    )

    assert abs(of_a_disk(found.x)) < near
    slope, normal = by_hand(found.x), tm.grad(of_a_disk)(found.x)
    assert abs(slope[0] * normal[1] - slope[1] * normal[0]) < 1e-3
    assert_plain(dict(found))


@pytest.mark.parametrize("method", ["L-BFGS-B", "TNC", "SLSQP", "trust-constr"])
def test_bounds(method: str) -> None:
    """With x[0] at most 0.5, the minimum is (0.5, 0.25)."""
    found = optimize.minimize(
        tm.value_and_grad(rosenbrock),
        START[:2],
        jac=True,
        method=method,
        bounds=[(None, 0.5), (None, None)],
    )

    np.testing.assert_allclose(found.x, [0.5, 0.25], atol=2e-3)
    assert_plain(dict(found))


T = np.linspace(0.0, 4.0, 30)
JACOBIANS: dict[str, tuple[Callable[[], Any], Any]] = {
    **{
        f"least_squares, {method}": (
            lambda method=method: optimize.least_squares(
                residuals, START[:2], jac=tm.jacobian(residuals), method=method
            ),
            lambda found: np.testing.assert_allclose(found.x, 1.0, rtol=1e-6),
        )
        for method in ("trf", "dogbox", "lm")
    },
    **{
        f"root, {method}": (
            lambda method=method: optimize.root(
                residuals, START[:2], jac=tm.jacobian(residuals), method=method
            ),
            lambda found: np.testing.assert_allclose(found.x, 1.0, rtol=1e-6),
        )
        for method in ("hybr", "lm")
    },
    "root_scalar": (
        lambda: optimize.root_scalar(
            tm.value_and_grad(lambda x: x**2 - 2.0), x0=1.0, fprime=True, method="newton"
        ),
        lambda found: np.testing.assert_allclose(found.root, np.sqrt(2.0)),
    ),
    **{
        f"curve_fit, {name}": (
            lambda options=options: optimize.curve_fit(
                decay, T, decay(T, 2.5, 1.3), p0=[1.0, 1.0], jac=decay_slopes, **options
            ),
            lambda found: np.testing.assert_allclose(found[0], [2.5, 1.3], rtol=1e-6),
        )
        for name, options in {"lm": {}, "bounds": {"bounds": ([0, 0], [5, 5])}}.items()
    },
    **{
        f"solve_ivp, {method}": (
            lambda method=method: integrate.solve_ivp(
                van_der_pol, (0, 2), [2.0, 0.0], method=method, jac=tm.jacobian(van_der_pol, 1)
            ),
            # Computed by method="DOP853" with rtol=atol=1e-12.
            lambda found: np.testing.assert_allclose(found.y[0, -1], 1.9733, atol=1e-3),
        )
        for method in ("Radau", "BDF", "LSODA")
    },
}


@pytest.mark.parametrize(("solve", "check"), JACOBIANS.values(), ids=JACOBIANS)
def test_jacobians(solve: Callable[[], Any], check: Any) -> None:
    """Least squares, roots, fits and stiff equations."""
    found = solve()

    check(found)
    assert_plain(dict(found) if isinstance(found, dict) else found)


def test_uncertainties_from_the_hessian() -> None:
    """The inverse Hessian of half the sum of squares is the covariance that curve_fit estimates."""
    noisy = decay(T, 2.5, 1.3) + np.random.default_rng(0).normal(0, 0.001, T.size)

    def misfit(p: Any) -> Any:
        return np.sum((decay(T, *p) - noisy) ** 2) / (2 * 0.001**2)

    fit = optimize.minimize(
        tm.value_and_grad(misfit), [2.0, 1.0], jac=True, bounds=[(0, None), (0, 3)]
    )
    best, covariance = optimize.curve_fit(
        decay, T, noisy, [2.0, 1.0], sigma=np.full(T.size, 0.001), absolute_sigma=True
    )

    np.testing.assert_allclose(fit.x, best, rtol=1e-4)
    # curve_fit neglects the curvature of the residuals, which is small where the noise is.
    np.testing.assert_allclose(np.linalg.inv(tm.hessian(misfit)(fit.x)), covariance, rtol=1e-2)


def test_products_with_further_arguments() -> None:
    """SciPy passes the vector before the data, tm.hvp takes it last: a lambda exchanges them."""

    def scaled(x: Any, scale: Any) -> Any:
        return scale * rosenbrock(x)

    found = optimize.minimize(
        scaled,
        START,
        args=(2.0,),
        jac=tm.grad(scaled),
        hessp=lambda x, v, scale: tm.hvp(scaled)(x, scale, v),
        method="trust-ncg",
    )

    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)
    assert_plain(dict(found))


def test_data_in_tensors() -> None:
    """The arguments that are differentiated decide: data may be tensors."""
    data = tm.constant([1.0, 2.0])
    distance = tm.value_and_grad(lambda x, d: np.sum((x - d) ** 2))

    found = optimize.minimize(distance, np.zeros(2), args=(data,), jac=True, method="L-BFGS-B")

    np.testing.assert_allclose(found.x, [1.0, 2.0], atol=1e-6)
    assert_plain(dict(found))


@pytest.mark.parametrize("method", ["CG", "BFGS", "L-BFGS-B", "trust-constr", "trust-ncg"])
def test_a_float32_start(method: str) -> None:
    """The gradient is float32 as well, which these methods accept."""
    start = START.astype(np.float32)
    assert tm.grad(rosenbrock)(start).dtype == np.float32

    hess = {"hess": tm.hessian(rosenbrock)} if method == "trust-ncg" else {}
    with np.errstate(over="ignore"):  # SciPy's line search converts a bound to float32
        found = optimize.minimize(
            tm.value_and_grad(rosenbrock), start, jac=True, method=method, **hess
        )

    np.testing.assert_allclose(found.x, 1.0, atol=2e-2)
    assert_plain(dict(found))


@pytest.mark.parametrize("jac", [tm.grad(rosenbrock), by_hand], ids=["ours", "by hand"])
@pytest.mark.parametrize("method", ["SLSQP", "TNC"])
def test_a_float32_start_that_scipy_refuses(method: str, jac: Any) -> None:
    """SciPy says that it needs float64, whoever computes the gradient."""
    with pytest.raises(Exception, match="float64"):
        optimize.minimize(rosenbrock, START.astype(np.float32), jac=jac, method=method)


def test_an_integer_start() -> None:
    """SciPy converts it."""
    found = optimize.minimize(tm.value_and_grad(rosenbrock), [0, 0], jac=True)

    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


def test_a_complex_start() -> None:
    """SciPy says that it ignores imaginary parts; a complex loss of real numbers has no gradient."""
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
        optimize.minimize(tm.value_and_grad(lambda z: np.sum(np.abs(z) ** 2)), [1j, 0], jac=True)

    with pytest.raises(NotATensorError, match=r"complex128 for real arguments.*np\.real"):
        optimize.minimize(tm.value_and_grad(lambda x: np.sum((x - 1j) ** 2)), START, jac=True)


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "a list": (lambda x: [rosenbrock(x)], NotATensorError, "return only the value"),
    "integers": (
        lambda x: np.sum(np.round(x).astype(int)),
        NotATensorError,
        "returned int64, but only real and complex numbers have derivatives",
    ),
    "None": (lambda _: None, FunctionError, "did you forget to return a value"),
    "a float": (lambda x: float(x[0]), NotATensorError, r"without float\(\)"),
    "an array": (lambda x: x * x, ShapeError, "sum it with np.sum"),
}


@pytest.mark.parametrize(("function", "error", "says"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS"])
def test_bad_results(function: Any, error: type[Exception], says: str, method: str) -> None:
    """A result that can't be differentiated is an error, not a minimum."""
    with pytest.raises(error, match=says):
        optimize.minimize(tm.value_and_grad(function), START, jac=True, method=method)


def test_a_lost_gradient() -> None:
    """SciPy would report success at the start: a warning says which argument was lost, and where, once."""

    def lost(scale: Any, x: Any) -> Any:
        return np.sum(scale * tm.constant(x.numpy() ** 2))

    gradient = tm.value_and_grad(lambda x: lost(tm.constant(2.0), x))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        found = optimize.minimize(gradient, START, jac=True)
        optimize.minimize(gradient, START, jac=True)

    np.testing.assert_array_equal(found.x, START)
    (warning,) = caught
    assert "with respect to argument 0 is 0, and .numpy() on line" in str(warning.message)
    assert warning.filename == __file__
    for derivative in (
        lambda: tm.grad(lost, (0, 1))(2.0, START),
        lambda: tm.hessian(lost, 1)(tm.constant(2.0), START),
        lambda: tm.vjp(lost, 2.0, START)[1](1.0),
        lambda: tm.jvp(lost, (2.0, START), (0.0, START)),
    ):
        with pytest.warns(UserWarning, match="argument 1 is 0"):
            derivative()


def test_zeros_without_a_warning() -> None:
    """No warning where a function doesn't depend on an argument, or only another argument was converted."""

    def cube(x: Any, count: Any, unused: Any) -> Any:  # noqa: ARG001 (that is the point)
        float(x)  # a number that is only looked at
        return x**3 + count

    assert (12.0, 1.0, 0.0) == tm.grad(cube, (0, 1, 2))(2.0, 1.0, 5.0)


def test_branches_without_a_warning() -> None:
    """A comparison and an integer have the derivative 0, so nothing is lost."""

    def slope(x: Any, n: Any) -> Any:
        return x * int(n) if x > 0 and np.argmax(np.stack([x, n])) >= 0 else -x

    assert (3.0, 0.0) == tm.grad(slope, (0, 1))(2.0, 3.0)
    assert 0.0 == tm.hessian(slope)(2.0, 3.0)


# -- functions of SciPy on a tape: no rule can reach them, so the reason says what to write ------------


DISTRIBUTIONS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "norm": (0.7, {"loc": 0.2, "scale": 1.5}, {"mean": 0.2, "std": 1.5}),
    "multivariate_normal": (
        np.array([0.7, -0.3]),
        {"mean": [0.1, 0.2], "cov": [[2.0, 0.5], [0.5, 1.0]]},
        {"mean": np.array([0.1, 0.2]), "cov": np.array([[2.0, 0.5], [0.5, 1.0]])},
    ),
    "expon": (0.7, {"scale": 2.0}, {"scale": 2.0}),
    "laplace": (0.7, {}, {}),
    "cauchy": (0.7, {}, {}),
    "logistic": (0.7, {}, {}),
    "gamma": (0.7, {"a": 2.5}, {"a": 2.5}),
    "beta": (0.7, {"a": 2.5, "b": 1.5}, {"a": 2.5, "b": 1.5}),
    "t": (0.7, {"df": 3.0}, {"df": 3.0}),
    "uniform": (2.0, {"x": 0.7, "loc": 0.2}, {"x": 0.7, "loc": 0.2}),
    "lognorm": (0.7, {"s": 1.5}, {"s": 1.5}),
    "halfnorm": (0.7, {}, {}),
    "rayleigh": (0.7, {}, {}),
    "chi2": (0.7, {"df": 3.0}, {"df": 3.0}),
    "invgamma": (0.7, {"a": 2.5}, {"a": 2.5}),
    "weibull_min": (0.7, {"c": 2.5}, {"c": 2.5}),
    "pareto": (1.7, {"b": 2.5}, {"b": 2.5}),
    "dirichlet": (np.array([1.5, 2.5]), {"x": [0.3, 0.7]}, {"x": np.array([0.3, 0.7])}),
    "geom": (3, {"p": 0.7}, {"k": 3}),
    "nbinom": (3, {"n": 2, "p": 0.7}, {"k": 3, "n": 2}),
    "poisson": (3, {"mu": 0.7}, {"k": 3}),
    "bernoulli": (1, {"p": 0.7}, {"k": 1}),
    "binom": (2, {"n": 5, "p": 0.7}, {"k": 2, "n": 5}),
}
"""An outcome, and the parameters as SciPy and as the advice name them; of some, a parameter instead of the outcome."""


def test_all_log_densities_are_tested() -> None:
    """A distribution with advice has a case."""
    assert DISTRIBUTIONS.keys() == LOG_DENSITIES.keys()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_log_densities(name: str) -> None:
    """The code that the advice names has SciPy's values, and a gradient."""
    stats = pytest.importorskip("scipy.stats")
    import scipy.special

    outcome, parameters, names = DISTRIBUTIONS[name]
    is_discrete = isinstance(outcome, int)
    others = {"poisson": "mu", "dirichlet": "alpha", "uniform": "scale"}
    variable = others.get(name, "p" if is_discrete else "x")
    density = getattr(getattr(stats, name), "logpmf" if is_discrete else "logpdf")

    def by_scipy(v: Any) -> Any:
        return (
            density(outcome, **parameters | {variable: v})
            if is_discrete
            else density(**parameters | {variable: v})
        )

    def by_advice(v: Any) -> Any:
        return eval(LOG_DENSITIES[name], {"np": np, "scipy": scipy, variable: v, **names})  # noqa: S307 (the advice is code)

    at = np.asarray(0.7 if is_discrete else outcome)
    value, gradient = tm.value_and_grad(by_advice)(at)
    np.testing.assert_allclose(value, by_scipy(at), rtol=1e-12)
    numeric = optimize.approx_fprime(np.atleast_1d(at), lambda v: by_scipy(v.reshape(at.shape)))
    np.testing.assert_allclose(np.atleast_1d(gradient), numeric, rtol=1e-5, atol=1e-6)


SETUP = """
import numpy as np, scipy, tapemagic as tm, tapemagic.tf
import scipy.integrate, scipy.interpolate, scipy.linalg, scipy.sparse, scipy.special, scipy.stats
import scipy.fft, scipy.signal, scipy.spatial.distance
from scipy.sparse.linalg import spsolve
A = np.array([[2.0, 0.0], [0.5, 1.0]])
S, M = scipy.sparse.csc_array(A), scipy.sparse.csr_matrix(A)
KNOTS = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0]
curve = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0])
line = scipy.interpolate.interp1d([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0])
spline = tm.custom_gradient(
    lambda x: (curve(x.numpy()), lambda upstream: upstream * curve.derivative()(x.numpy()))
)
x = tm.constant([0.7, 1.4])
with tm.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = np.sum((VALUE) * np.array([1.0, 2.0]))
found = tape.explain(y, x)
"""

ON_A_TAPE = {
    "scipy.linalg.solve(A, x)": ("of the same name from np.linalg", "np.linalg.solve(A, x)"),
    "scipy.linalg.cho_solve((A, True), x)": (
        "np.linalg.solve(A, b) with the matrix A itself",
        "np.linalg.solve(A @ A.T, x)",
    ),
    "scipy.linalg.solve_triangular(A, x, lower=True)": (
        "np.linalg.solve(np.tril(A), b)",
        "np.linalg.solve(np.tril(A), x)",
    ),
    "scipy.linalg.expm(np.diag(x)).sum(axis=0)": (
        "tapemagic.tf.linalg.expm(A)",
        "np.sum(tm.tf.linalg.expm(np.diag(x)), axis=0)",
    ),
    "S @ x": ("Write S.toarray() instead of S", "S.toarray() @ x"),
    "x @ S": ("Write S.toarray() instead of S", "x @ S.toarray()"),
    "S.dot(x)": ("Write S.toarray() @ x", "S.toarray() @ x"),
    "spsolve(S, x)": ("np.linalg.solve(A.toarray(), b)", "np.linalg.solve(S.toarray(), x)"),
    "scipy.stats.norm.cdf(x)": ("scipy.special.ndtr(z)", "scipy.special.ndtr(x)"),
    "scipy.stats.norm(0, 2).cdf(x)": ("scipy.special.ndtr(z)", "scipy.special.ndtr(x / 2)"),
    "scipy.stats.norm.sf(x)": ("scipy.special.ndtr(-z)", "scipy.special.ndtr(-x)"),
    "scipy.stats.norm.logcdf(x)": ("scipy.special.log_ndtr(z)", "scipy.special.log_ndtr(x)"),
    "scipy.stats.norm.ppf(x / 2)": ("scipy.special.ndtri(q)", "scipy.special.ndtri(x / 2)"),
    "scipy.stats.expon.pdf(x)": ("np.exp(-x / scale - np.log(scale))", "np.exp(-x)"),
    "scipy.stats.norm.logpdf(x)": (LOG_DENSITIES["norm"], "-x * x / 2 - np.log(2 * np.pi) / 2"),
    "scipy.linalg.lu_solve(scipy.linalg.lu_factor(A), x)": (
        "np.linalg.solve(A, b) with the matrix A itself",
        "np.linalg.solve(A, x)",
    ),
    "scipy.sparse.csr_matrix(A) @ x": ("scipy.special.erf", "A @ x"),
    "M * x": ("Write M.toarray() @ x for the product", "M.toarray() @ x"),
    "scipy.integrate.trapezoid(x)": ("Write np.trapezoid(y, x)", "np.trapezoid(x)"),
    "scipy.signal.convolve(x, A[1])[:2]": ("Write np.convolve(a, v)", "np.convolve(x, A[1])[:2]"),
    "scipy.fft.fft(x).real": ("of the same name from np.fft", "np.fft.fft(x).real"),
    "scipy.spatial.distance.cdist(x[None], A)": (
        "np.linalg.norm(a[:, None] - b, axis=-1)",
        "np.linalg.norm(x[None][:, None] - A, axis=-1)",
    ),
    "scipy.stats.zscore(x**2)": (
        "(x - np.mean(x)) / np.std(x)",
        "(x**2 - np.mean(x**2)) / np.std(x**2)",
    ),
    "scipy.stats.entropy(x)": (
        "np.sum(scipy.special.entr(p / np.sum(p)))",
        "np.sum(scipy.special.entr(x / np.sum(x)))",
    ),
    "scipy.interpolate.CubicSpline(*KNOTS)(x)": (
        "Keep CubicSpline(...) as curve. Make a tapemagic.custom_gradient that returns curve(x.numpy())",
        "spline(x)",
    ),
    "scipy.interpolate.interp1d(*KNOTS)(x)": (
        "np.interp(x, knots, values)",
        "np.interp(x, *KNOTS)",
    ),
    "curve(x)": ("lambda upstream: upstream * curve.derivative()(x.numpy())", "spline(x)"),
    "line(x)": (
        "np.interp(x, knots, values)",
        "np.interp(x, [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0])",
    ),
}
"""Calls that lose the tape, words of the advice, and the call that obeys it."""


@pytest.mark.parametrize(("lost", "advice", "right"), [(k, *v) for k, v in ON_A_TAPE.items()])
def test_functions_on_a_tape(lost: str, advice: str, right: str, tmp_path: Any) -> None:
    """The reason says in one line what to write, and that has the same value, and a right gradient."""

    def run(value: str) -> dict[str, Any]:
        path = tmp_path / "program.py"
        path.write_text(SETUP.replace("VALUE", value))
        names: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), names)  # noqa: S102 (a program of the test)
        return names

    names = run(right)

    def by_scipy(x: Any) -> Any:
        value = eval(lost, names | {"x": x})  # noqa: S307 (an expression of the test)
        return np.sum(value * np.array([1.0, 2.0]))

    numeric = optimize.approx_fprime(np.array([0.7, 1.4]), by_scipy)
    np.testing.assert_allclose(
        names["tape"].gradient(names["y"], names["x"]), numeric, rtol=1e-5, atol=1e-6
    )

    # The sum is a tensor of what became plain, so that the tape can be asked for it.
    names = run(f"tm.constant({lost})")
    assert advice in names["found"].reason
