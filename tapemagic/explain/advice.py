"""Sentences about a call that turned a tracked value into a plain one, with the line and what to write instead."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.events import Event, Place, is_flat
from tapemagic.engine.tensor.coercion import PandasData
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.explain.formatting import SHOWN, format_entries, format_line
from tapemagic.explain.program_text import around, names_read, on_line, text_of

STACKING = {"stack", "concatenate", "hstack", "vstack", "column_stack", "dstack", "block"}
"""NumPy functions that track the tensors in a list."""

OF_LISTS = {
    "convolve",
    "correlate",
    "cross",
    "dot",
    "inner",
    "interp",
    "kron",
    "matmul",
    "outer",
    "polyval",
    "vdot",
}
"""NumPy functions that compute with every argument, which may be lists."""

ARRAYS = {"array", "asarray", "asanyarray", "constant", "convert_to_tensor"}
NUMBERS = ("float", "fsum", "math", "cmath")
NUMPY = "NumPy"
MAX_REPLACEMENT = 120
"""Maximum number of characters in a replacement."""

COMPUTING = {".compute()", "dask.compute()", "dask.delayed()"}
"""Conversions that compute a lazy tensor."""

KEEP_TENSOR = {
    "np.asarray": "Call NumPy's functions on the tensor itself",
    "float()": "Leave it a tensor",
}
CONVERSIONS = {
    "math cmath": "Write NumPy's functions instead of those in math: np.sin(x), not math.sin(x)",
    "[]=": "Collect the parts in a list, and build one tensor from them at the end with np.stack(parts)",
    "uniform": "Draw plain numbers, and then compute with the tensor: low + (high - low) * rng.uniform(size=3)",
    "exponential": "Draw plain numbers, and then compute with the tensor: scale * rng.exponential(size=3)",
    "rng random normal": "Draw plain numbers, and then compute with the tensor: mu + sigma * rng.normal(size=3)",
    "full arange linspace full_like": "Compute with the tensor: x * np.ones(3) or x * np.arange(3)",
    "poly1d polyval polyadd polysub polymul polydiv polyder polyint roots": "To NumPy's functions, an np.poly1d "
    "is a plain array. Call it: p(x), or pass p.coeffs to the functions",
    "vectorize": "Call NumPy's functions on whole tensors",
}
"""Advice for conversions to plain numbers, by the calls on the line. The first match counts."""

MATH_REPLACEMENTS = {
    "erf": "tapemagic.erf",
    "erfc": "tapemagic.erfc",
    "fsum": "sum",
    "gamma": "scipy.special.gamma",
    "lgamma": "scipy.special.gammaln",
    "pow": "np.power",
}
"""NumPy and SciPy functions that replace functions of the module math under a different name."""

USE_SMOOTH = "Use a smooth function instead"
COMPARISONS = ("greater", "greater_equal", "less", "less_equal")
SMOOTH = {
    "histogram histogram2d histogramdd bincount digitize searchsorted": "A smooth "
    "count of the values near c is np.sum(np.exp(-(((x - c) / width) ** 2)))",
    "argmax argmin": "Write tapemagic.softmax(x), which weighs all positions smoothly",
    " ".join(COMPARISONS): "Write tapemagic.sigmoid((x - a) / width), which is a smooth step",
}
"""Advice for functions whose results change in steps."""

SCIPY_REPLACEMENTS = {
    "softmax": "Write tapemagic.softmax(x, axis)",
    "log_softmax": "Write tapemagic.log_softmax(x, axis)",
    "logsumexp": "Write tapemagic.logsumexp(x, axis)",
    "polygamma": "Write scipy.special.zeta(n + 1, x) times (-1)**(n + 1) * n!, or psi(x) for n = 0",
    "multigammaln": "Write the sum of scipy.special.gammaln(a - j / 2) for j in range(d)",
    "comb": "Write scipy.special.binom(n, k)",
    "factorial": "Write scipy.special.gamma(n + 1)",
    "perm": "Write scipy.special.poch(n - k + 1, k)",
    "cho_solve cho_factor lu_solve lu_factor": "Write np.linalg.solve(A, b) with the matrix A itself",
    "solve_triangular": "Write np.linalg.solve(np.tril(A), b), or np.triu(A) for an upper triangle",
    "expm": "Write tapemagic.tf.linalg.expm(A), after import tapemagic.tf",
    "spsolve": "Write np.linalg.solve(A.toarray(), b)",
    "block_diag": "Write np.block with zeros: np.block([[A, np.zeros((m, n))], [np.zeros((n, m)), B]])",
    "trapezoid": "Write np.trapezoid(y, x)",
    "convolve fftconvolve": "Write np.convolve(a, v)",
    "cdist": "Write np.linalg.norm(a[:, None] - b, axis=-1)",
    "zscore": "Write (x - np.mean(x)) / np.std(x)",
    "entropy": "Write np.sum(scipy.special.entr(p / np.sum(p)))",
}
"""Advice for SciPy functions that convert their arguments to plain arrays."""

LOG_DENSITIES = {
    "norm": "-(((x - mean) / std) ** 2) / 2 - np.log(std) - np.log(2 * np.pi) / 2",
    "multivariate_normal": "-(x - mean) @ np.linalg.solve(cov, x - mean) / 2 "
    "- np.linalg.slogdet(2 * np.pi * cov)[1] / 2",
    "expon": "-x / scale - np.log(scale)",
    "laplace": "-np.abs(x) - np.log(2)",
    "cauchy": "-np.log1p(x**2) - np.log(np.pi)",
    "logistic": "-x - 2 * np.logaddexp(0, -x)",
    "gamma": "scipy.special.xlogy(a - 1, x) - x - scipy.special.gammaln(a)",
    "beta": "scipy.special.xlogy(a - 1, x) + scipy.special.xlog1py(b - 1, -x) - scipy.special.betaln(a, b)",
    "t": "scipy.special.gammaln((df + 1) / 2) - scipy.special.gammaln(df / 2) - np.log(df * np.pi) / 2 "
    "- (df + 1) / 2 * np.log1p(x**2 / df)",
    "uniform": "np.where((x >= loc) & (x <= loc + scale), -np.log(scale), -np.inf)",
    "lognorm": "-((np.log(x) / s) ** 2) / 2 - np.log(s * x) - np.log(2 * np.pi) / 2",
    "halfnorm": "-(x**2) / 2 + np.log(2 / np.pi) / 2",
    "rayleigh": "np.log(x) - x**2 / 2",
    "chi2": "scipy.special.xlogy(df / 2 - 1, x) - x / 2 - scipy.special.gammaln(df / 2) - df / 2 * np.log(2)",
    "invgamma": "-(a + 1) * np.log(x) - 1 / x - scipy.special.gammaln(a)",
    "weibull_min": "np.log(c) + scipy.special.xlogy(c - 1, x) - x**c",
    "pareto": "np.log(b) - (b + 1) * np.log(x)",
    "dirichlet": "np.sum(scipy.special.xlogy(alpha - 1, x)) + scipy.special.gammaln(np.sum(alpha)) "
    "- np.sum(scipy.special.gammaln(alpha))",
    "geom": "scipy.special.xlog1py(k - 1, -p) + np.log(p)",
    "nbinom": "n * np.log(p) + scipy.special.xlog1py(k, -p) + scipy.special.gammaln(k + n) "
    "- scipy.special.gammaln(k + 1) - scipy.special.gammaln(n)",
    "poisson": "scipy.special.xlogy(k, mu) - mu - scipy.special.gammaln(k + 1)",
    "bernoulli": "scipy.special.xlogy(k, p) + scipy.special.xlog1py(1 - k, -p)",
    "binom": "scipy.special.xlogy(k, p) + scipy.special.xlog1py(n - k, -p) + scipy.special.gammaln(n + 1) "
    "- scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)",
}
"""The logarithms of the densities of scipy.stats as code, with SciPy's names of the parameters."""

INTERPOLATORS = {
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "InterpolatedUnivariateSpline",
    "PchipInterpolator", "UnivariateSpline", "interp1d", "make_interp_spline", "make_smoothing_spline",
}  # fmt: skip
"""Functions and classes of scipy.interpolate that make a function of one variable."""

NORMAL_DISTRIBUTION = {
    "cdf": "ndtr(z)",
    "logcdf": "log_ndtr(z)",
    "sf": "ndtr(-z)",
    "ppf": "ndtri(q)",
}
"""Functions of scipy.special that replace methods of scipy.stats.norm."""


PRODUCTS = {
    "a plain number": ("float()", "complex()", "int()", ".item()"),
    "True or False": ("bool()",),
    "a plain list": (".tolist()",),
    "text": ("repr()", "format()"),
    "bytes": ("pickle",),
}
"""Descriptions of results, each with the conversions that return it. All others return a plain array."""


def lost_track(event: Event, name: str, namespace: Mapping[str, Any]) -> str:
    """Say, without a full stop, that the tape can't track the value `name` through a call."""
    text = conversion(event, name, namespace)
    if is_flat(event) and " into " not in text:
        return text
    return f"{text}, so the tape lost track of it"


def conversion(event: Event, name: str, namespace: Mapping[str, Any]) -> str:
    """Say which call on which line turned the value `name` into a plain number or array."""
    what = str(event.what)
    caller = _agent(event, namespace)
    agent = f"{caller}{at(event)}"
    if what.startswith(("tapemagic.", "tf.", "copy.")) and "distributed" not in what:
        return f"{agent} made a plain copy of {name}"
    if " to " in what:
        return f"{agent} turned {name} into {what.rpartition(' to ')[2]} numbers"
    if is_flat(event) and what != "int()":
        return f"{agent} changes in steps, so it has no derivative in {name}"
    product = next(
        (product_name for product_name, hows in PRODUCTS.items() if what in hows), "a plain array"
    )
    if agent.startswith(NUMPY):  # float() is then only how NumPy reads the items of a list
        product = "a plain array"
    # Assigning to elements of an array converts a tensor without a call that a reader could see.
    is_by_numpy = caller in {*KEEP_TENSOR, NUMPY} and _is_conversion_hidden(event)
    if is_by_numpy and (owner := filled(event.place)):
        return f"{ast.unparse(owner)} is a NumPy array, which stored {name}{at(event)} as {product}"
    return f"{agent} turned {name} into {product}"


def _is_conversion_hidden(event: Event) -> bool:
    """Return True if the line of a conversion doesn't call it."""
    name = str(event.what).removesuffix("()").split(".")[-1]
    return name not in _calls(event.place)


def _agent(event: Event, namespace: Mapping[str, Any]) -> str:
    """Return the name of the call that converted a value: "math.sin", or the library that did it inside."""
    library = event.place.library if event.place else ""
    what = str(event.what)
    if library and library != "numpy" and not what.startswith(library):
        return library
    if what == "float()" and (function := math_on_line(event.place, namespace)):
        return function
    calls = _calls(event.place)
    if what in KEEP_TENSOR and what.removesuffix("()").split(".")[-1] not in calls:
        listed_ = calls.isdisjoint(NUMBERS) and list_replacement(event.place, namespace)
        what = NUMPY if listed_ else what
    if what == "np.asarray" and "asarray" not in calls:
        what = NUMPY
    return what.partition(" to ")[0]


def _instead_of_copy(event: Event) -> str:
    """Return the advice for a copy: the tensor itself, or for ``w = Variable(w)`` a change of the Variable."""
    tree, line = text_of(event.place)
    for statement in on_line(tree, line) if "Variable" in str(event.what) else ():
        match statement:
            case ast.Assign([ast.Name(x)], ast.Call() as value) if x in names_read(value):
                return f"Make {x} a Variable once, before, and change it by {x}.assign_sub(...) or {x}.assign(...)"
    return "Compute with the tensor itself, which needs no copy"


def replacement(  # noqa: PLR0912 (a list of cases)
    event: Event, namespace: Mapping[str, Any]
) -> str:
    """Return the advice for a conversion to a plain value, as a sentence without a full stop.

    - `namespace`: The values of names on the line: `sin` may be `math.sin`.
    """
    what = str(event.what)
    library = event.place.library if event.place else ""
    if library == "scipy":
        return _scipy_replacement(event.place, namespace)
    if what in COMPUTING:
        return "Compute with the lazy tensor itself, and call .compute() on the final results"
    if what.startswith("model."):
        return "They use plain arrays. Call the model itself: model(x)"
    if what.startswith("tapemagic.distributed."):
        return "Its second result is the gradient. A tape tracks tapemagic.constant(dask_array)"
    if what.startswith(("tapemagic.", "copy.", "tf.")):
        return _instead_of_copy(event)
    if what.endswith("compute()"):
        return "Compute with the lazy tensor itself, and call .compute() on the final results"
    if library == "pandas":
        return _pandas_replacement(event.place, namespace)
    if library and library != "numpy":
        return "A tape tracks NumPy's functions only"
    if " to " in what or what == "int()":
        return "Integers and booleans have no derivative. Use a smooth function instead"
    if is_flat(event):
        function = what.removeprefix("np.").split(".")[0]
        extreme = function in COMPARISONS and _extreme_replacement(event.place, namespace)
        return extreme or _first(SMOOTH, {function}) or USE_SMOOTH
    calls = _calls(event.place)
    if any(isinstance(namespace.get(name), np.vectorize) for name in calls):
        calls.add("vectorize")
    if what not in KEEP_TENSOR:
        if "cmath" in calls:
            return "Write NumPy's function of the same name, with a complex tensor: np.sqrt(x + 0j)"
        removed = _fill_replacement(event, namespace) or f"Remove {what}"
        return removed if what.startswith(".") else "Compute with the tensor itself"
    by_math = what == "float()" and math_replacement(event.place, namespace)
    is_by_numpy = _agent(event, namespace) == NUMPY and _is_conversion_hidden(event)
    by_method = is_by_numpy and _dot_replacement(event.place, namespace)
    # A polynomial of a list needs a tensor of coefficients before anything else.
    by_list = list_replacement(event.place, namespace)
    by_line = _first(CONVERSIONS, calls)
    by_line = _fill_replacement(event, namespace) or by_line
    by_name = ("poly1d" in calls and by_list) or by_line or by_list
    return by_math or by_name or by_method or KEEP_TENSOR[what]


def _dot_replacement(place: Place | None, namespace: Mapping[str, Any]) -> str:
    """Return the advice to replace the method dot of an array, or ''."""
    for node in _nodes(place):
        match node:
            # Unlike @, np.dot also takes a number. The method of a tensor is recorded.
            case ast.Call(ast.Attribute(array, "dot"), [other], []) if not isinstance(
                namespace.get(ast.unparse(array)), ModuleType | Traced
            ):
                return _replace(node, f"np.dot({ast.unparse(array)}, {ast.unparse(other)})")
    return ""


def _pandas_replacement(place: Place | None, namespace: Mapping[str, Any]) -> str:
    """Return the advice to replace the product or method of pandas data that made a plain array of its operand."""
    for node in _nodes(place):
        match node:
            case ast.BinOp(data, ast.MatMult(), other) | ast.Call(
                ast.Attribute(data, "dot"), [other], []
            ):
                names = names_read(data)
                if any(isinstance(namespace.get(name), PandasData) for name in names):
                    array = ast.Call(ast.Attribute(data, "to_numpy"), [], [])
                    return _replace(node, ast.unparse(ast.BinOp(array, ast.MatMult(), other)))
    return "Use operators such as * and +, or NumPy's functions with the array of the data, df.to_numpy()"


def _scipy_replacement(place: Place | None, namespace: Mapping[str, Any]) -> str:
    """Return the advice to replace the functions of SciPy that a line calls."""
    calls = _calls(place)
    for module, offered in (("linalg", np.linalg.__all__), ("fft", np.fft.__all__)):
        is_from = any(module in name or module in _module(namespace.get(name)) for name in calls)
        if is_from and not calls.isdisjoint(offered):
            return f"Write the function of the same name from np.{module}"
    ufuncs = "A tape tracks NumPy's functions and SciPy's ufuncs, such as scipy.special.erf"
    by_node = filter(None, (_of_scipy_object(node, namespace) for node in _nodes(place)))
    return _first(SCIPY_REPLACEMENTS, calls) or next(by_node, ufuncs)


def _of_scipy_object(node: ast.AST, namespace: Mapping[str, Any]) -> str:
    """Return the advice for a distribution, a sparse matrix or a spline of SciPy in an expression, or ''."""
    match node:
        case ast.Call(ast.Attribute(owner, method)):
            distribution = owner.func if isinstance(owner, ast.Call) else owner  # norm(0, 1) too
            name = ast.unparse(distribution).split(".")[-1]
            if name in LOG_DENSITIES and method in {"logpdf", "logpmf"}:
                return f"Write {LOG_DENSITIES[name]}"
            if name in LOG_DENSITIES and method in {"pdf", "pmf"}:
                return f"Write np.exp({LOG_DENSITIES[name]})"
            if name == "norm" and method in NORMAL_DISTRIBUTION:
                z = "" if method == "ppf" else " with z = (x - mean) / std"
                return f"Write scipy.special.{NORMAL_DISTRIBUTION[method]}{z}"
            if method == "dot" and _is_sparse(owner, namespace):
                return f"Write {ast.unparse(owner)}.toarray() @ x"
        case ast.BinOp(left, ast.MatMult() | ast.Mult(), right):
            sparse = (ast.unparse(x) for x in (left, right) if _is_sparse(x, namespace))
            return next((_of_sparse(matrix, node.op) for matrix in sparse), "")
        case ast.Call(ast.Call(ast.Name(name) | ast.Attribute(attr=name))) if name in INTERPOLATORS:
            advice = _of_curve("curve", has_derivative=name != "interp1d")
            return f"Keep {name}(...) as curve. {advice}" if "curve" in advice else advice
        case ast.Call(ast.Name(name)) if _module_of_type(name, namespace, "scipy.interpolate"):
            return _of_curve(name, hasattr(namespace[name], "derivative"))
    return ""


def _of_sparse(matrix: str, operator: ast.operator) -> str:
    """Return the advice for a product with a sparse matrix."""
    array = f"{matrix}.toarray()"
    if isinstance(operator, ast.Mult):
        # Of a matrix of SciPy, * is the product of matrices; of its arrays, that of elements.
        return f"Write {array} @ x for the product, or {array} * x element by element"
    return f"Write {array} instead of {matrix}"


def _of_curve(name: str, has_derivative: bool) -> str:
    """Return the advice for a call of an interpolating function."""
    if not has_derivative:
        return "Write np.interp(x, knots, values), which has lines between the knots"
    return (
        f"Make a tapemagic.custom_gradient that returns {name}(x.numpy()) and the function "
        f"lambda upstream: upstream * {name}.derivative()(x.numpy())"
    )


def _is_sparse(node: ast.expr, namespace: Mapping[str, Any]) -> bool:
    """Return True if an expression is the name of a sparse matrix or array of SciPy."""
    return _module_of_type(ast.unparse(node), namespace, "scipy.sparse")


def _module_of_type(name: str, namespace: Mapping[str, Any], module: str) -> bool:
    """Return True if a name is bound to an object whose class is from a module or its submodules."""
    return type(namespace.get(name)).__module__.startswith(module)


def _module(value: Any) -> str:
    """Return the name of a module, or of the module that defines a function."""
    name = getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", "")
    return name if isinstance(name, str) else ""


def _first(advice: Mapping[str, str], names: set[str]) -> str:
    """Return the first advice in a table that concerns any of the names, or ''."""
    matching = (text for words, text in advice.items() if not names.isdisjoint(words.split()))
    return next(matching, "")


def takes_gradient(place: Place | None) -> bool:
    """Return True if a line takes a gradient, whose own rules may compare values."""
    return not _calls(place).isdisjoint({"gradient", "jacobian", "batch_jacobian"})


def _nodes(place: Place | None) -> Iterator[ast.AST]:
    return (node for statement in on_line(*text_of(place)) for node in ast.walk(statement))


def _calls(place: Place | None) -> set[str]:
    """Return the parts of the names that a line calls, and "[]=" if it assigns to elements of an array."""
    calls = (ast.unparse(node.func) for node in _nodes(place) if isinstance(node, ast.Call))
    names = {part for name in calls for part in name.split(".")}
    # A subscript that is a string belongs to a dict, which stores tensors unchanged.
    for statement in on_line(*text_of(place)):
        match statement:
            case ast.Assign([*_, ast.Subscript(slice=key)]) | ast.AugAssign(
                ast.Subscript(slice=key)
            ) if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                names.add("[]=")
    return names


def filled(place: Place | None) -> ast.expr | None:
    """Return the array to whose elements a line assigns, or None."""
    for statement in on_line(*text_of(place)):
        match statement:
            case ast.Assign([*_, ast.Subscript(owner)]) | ast.AugAssign(ast.Subscript(owner)):
                return owner
    return None


def _fill_replacement(event: Event, namespace: Mapping[str, Any]) -> str:
    """Return the advice to fill a list instead of an array, or '' if a list has no such elements."""
    place = event.place
    for statement in on_line(*text_of(place)):
        match statement:
            case ast.Assign([*_, ast.Subscript(ast.Name(name), index)]) | ast.AugAssign(
                ast.Subscript(ast.Name(name), index)
            ):
                # Lists have neither several axes nor elements that another array chooses.
                is_single = not any(isinstance(x, ast.Tuple | ast.Slice) for x in ast.walk(index))
                chosen = namespace.get(index.id, 0) if isinstance(index, ast.Name) else 0
                if not (is_single and isinstance(chosen, int | np.integer)):
                    continue
                if isinstance(namespace.get(name), np.ndarray):
                    loops = [
                        x for x in around(*text_of(place)) if isinstance(x, ast.For | ast.While)
                    ]
                    before, after = (
                        ("the loop", "after it") if loops else ("that", "when it is filled")
                    )
                    removed = "" if _is_conversion_hidden(event) else f"Remove {event.what}, and "
                    start = f"{removed}write" if removed else "Write"
                    return f"{start} {name} = list({name}) before {before}, and {name} = np.stack({name}) {after}"
    return ""


def list_replacement(place: Place | None, namespace: Mapping[str, Any]) -> str:
    """Return the call to write instead of one that converts a list of tensors to a plain array, or ''.

    - `namespace`: The values of names on the line: `rows` may be a list of lists.
    """
    lists = ListAdvice(place, namespace)
    for node in _nodes(place):
        match node:
            case ast.Subscript(ast.Attribute(_, "r_" | "c_") as joined, joint):
                items = joint if isinstance(joint, ast.Tuple) else ast.Tuple([joint])
                join = "hstack" if joined.attr == "r_" else "column_stack"
                if not any(isinstance(part, ast.Slice) for part in items.elts):
                    return _replace(node, f"np.{join}({_as_list(items)})")
                return f"Build one tensor from the parts with np.{join}"
            case ast.Call(function, arguments):
                name = ast.unparse(function)
                package, last = name.partition(".")[0], name.rpartition(".")[2]
                # Only these packages are known to convert a list; other functions may take lists of tensors.
                known = package in {"np", "numpy", "tm", "tapemagic"} and ".random." not in name
                if last in STACKING or not known or isinstance(function, ast.Call):
                    continue
                if call := lists.instead(node, name, last, arguments):
                    return _replace(node, call)
    return ""


class ListAdvice(NamedTuple):
    """Writes the calls that build a tensor from lists of tensors on a line."""

    place: Place | None
    namespace: Mapping[str, Any]

    def instead(self, node: ast.Call, name: str, last: str, arguments: Sequence[ast.expr]) -> str:
        """Return the call with each list of tensors among its arguments stacked, or '' if it has none."""
        match arguments:
            case [ast.GeneratorExp(element, loops), *_] if last == "fromiter":
                return self.stacked(ast.ListComp(element, loops))
        # Of all others, only the first argument is a list of numbers, and not a shape or a list of axes.
        places = range(len(arguments)) if last in OF_LISTS else range(min(len(arguments), 1))
        lists = {k for k in places if self._depth(arguments[k]) and not _is_constant(arguments[k])}
        if not lists:
            return ""
        texts = [
            self.stacked(part) if k in lists else ast.unparse(part)
            for k, part in enumerate(arguments)
        ]
        if last not in ARRAYS:
            return f"{name}({', '.join([*texts, *map(ast.unparse, node.keywords)])})"
        dtypes = [word.value for word in node.keywords if word.arg == "dtype"]
        text = ast.unparse(dtypes[0]) if dtypes else ""
        return texts[0] if text in {"", "float", "np.float64"} else f"{texts[0]}.astype({text})"

    def stacked(self, node: ast.expr) -> str:
        """Write the call of np.stack that builds a tensor from a list, and one for each list in it."""
        if isinstance(node, ast.List | ast.Tuple):
            nested = [bool(self._depth(part)) for part in node.elts]
            # np.block puts numbers into rows and columns, but joins arrays.
            if all(nested) and all(map(self._is_number, ast.walk(node))):
                return f"np.block({ast.unparse(_lists(node))})"
            parts = (
                self.stacked(part) if is_list else ast.unparse(part)
                for part, is_list in zip(node.elts, nested, strict=True)
            )
            return f"np.stack([{', '.join(parts)}])"
        if isinstance(node, ast.ListComp) and self._depth(node.elt):
            loops = "".join(f" {ast.unparse(loop).strip()}" for loop in node.generators)
            return f"np.stack([{self.stacked(node.elt)}{loops}])"
        text = ast.unparse(node)
        if self._depth(node) < 2:
            return f"np.stack({text})"
        return f"np.stack([np.stack(row) for row in {text}])"

    def _depth(self, node: ast.expr) -> int:
        """Return how deep the lists are that an expression consists of, 0 if it isn't known to be a list."""
        match node:
            case ast.List(parts) | ast.Tuple(parts):
                return 1 + max(map(self._depth, parts), default=0)
            case ast.ListComp(element):
                return 1 + self._depth(element)
            case ast.Call(ast.Name("list" | "tuple")):
                return 1
            case ast.Name(name):
                return _depth_of(self.namespace.get(name)) or self._depth_in_program(name)
        return 0

    def _depth_in_program(self, name: str) -> int:
        """Return how deep the lists are that the program binds to a name, or appends to it."""
        depths = [0]
        for node in ast.walk(text_of(self.place)[0]):
            match node:
                case ast.Call(ast.Attribute(ast.Name(owner), "append"), [part]) if owner == name:
                    depths.append(1 + self._display_depth(part))
                case ast.Assign([ast.Name(owner)], value) if owner == name:
                    depths.append(self._display_depth(value))
        return max(depths)

    def _display_depth(self, node: ast.expr) -> int:
        # A name could refer to itself, as in rows = rows, and its depth would need the depth of itself.
        return 0 if isinstance(node, ast.Name) else self._depth(node)

    def _is_number(self, node: ast.AST) -> bool:
        """Return False for a name whose value isn't known, or isn't a single number or a list display."""
        if isinstance(node, ast.ListComp | ast.Starred):
            return False
        if not isinstance(node, ast.Name):
            return True
        value = self.namespace.get(node.id)
        return callable(value) or isinstance(value, ModuleType) or _shape_of(value) == ()


def _depth_of(value: Any) -> int:
    """Return how deep the lists in a value are, by the first item of each, 0 if it isn't a list."""
    # Exact types only: a subclass may override __getitem__.
    if type(value) not in (list, tuple):
        return 0
    return 1 + (_depth_of(value[0]) if value else 0)


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a number or an array, or None for other values."""
    if isinstance(value, Traced | np.ndarray | np.generic):
        return tuple(unwrap(value).shape) if isinstance(value, Traced) else value.shape
    return () if isinstance(value, int | float | complex) else None


def _is_constant(node: ast.expr) -> bool:
    """Return True if a list contains only literal numbers."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))


def _lists(node: ast.expr) -> ast.expr:
    """Replace tuples by lists, because np.block accepts only lists."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([_lists(part) for part in node.elts])
    return node


def _extreme_replacement(place: Place | None, namespace: Mapping[str, Any]) -> str:
    """Return the advice to replace Python's max or min of two numbers, or '' if a line calls neither."""
    for node in _nodes(place):
        match node:
            case ast.Call(ast.Name("max" | "min" as name), [_, _] as operands, []) if (
                name not in namespace
            ):
                arguments = ", ".join(map(ast.unparse, operands))
                call = f"({arguments})" if len(arguments) < MAX_REPLACEMENT else ""
                return f"{name} only compares the two. Write np.{name}imum{call}"
    return ""


def math_replacement(place: Place | None, namespace: Mapping[str, Any]) -> str:
    """Return the advice to replace a function of the module math on a line, or ''."""
    call, function = _math_call(place, namespace)
    return math_instead(call, function) if call else ""


def math_on_line(place: Place | None, namespace: Mapping[str, Any]) -> str:
    """Return the name of the function of the module math that a line calls, or ''."""
    return _math_call(place, namespace)[1]


def _math_call(place: Place | None, namespace: Mapping[str, Any]) -> tuple[ast.Call | None, str]:
    """Return the first call of a function of the module math on a line that may convert a tensor, with its name."""
    calls = [
        (node, function)
        for node in _nodes(place)
        if isinstance(node, ast.Call) and (function := math_function(node.func, namespace))
    ]
    # In x * math.sin(x) + math.exp(2), only sin converts. The names may have other values by now: then the first.
    converting = (entry for entry in calls if not _is_plain(entry[0], namespace))
    return next(converting, calls[0] if calls else (None, ""))


def _is_plain(call: ast.Call, namespace: Mapping[str, Any]) -> bool:
    """Return True if all names in the arguments of a call are plain numbers and modules."""
    names = (node for part in call.args for node in ast.walk(part) if isinstance(node, ast.Name))
    plain = (int, float, np.number, ModuleType)
    return all(isinstance(namespace.get(node.id), plain) for node in names)


def math_function(node: ast.expr, namespace: Mapping[str, Any]) -> str:
    """Return the name of the function of the module math that an expression refers to, such as "math.exp", or ''."""
    match node:
        case ast.Name(name):
            value = namespace.get(name)
        case ast.Attribute(ast.Name(module), name) if namespace.get(module, math) is math:
            # A name that isn't in the namespace anymore was math if it is called math.
            value = getattr(math, name, None) if module in namespace or module == "math" else None
        case _:
            return ""
    name = getattr(value, "__name__", "")
    return f"math.{name}" if callable(value) and value is vars(math).get(name) else ""


def math_instead(node: ast.Call, function: str) -> str:
    """Return the advice to call a NumPy function instead of one from the module math."""
    name = function.removeprefix("math.")
    match name, [ast.unparse(part) for part in node.args]:
        case "log", [x, base]:
            return f"Write np.log({x}) / np.log({base})"
        case "dist", [p, q]:
            if all(isinstance(part, ast.List | ast.Tuple) for part in node.args):
                p, q = f"np.stack({_as_list(node.args[0])})", f"np.stack({_as_list(node.args[1])})"
            return f"Write np.linalg.norm({p} - {q})"
    own = vars(np).get(name)
    # math.log(x, 2) takes a base, np.log doesn't: a function of the same name must take as many arguments.
    fits = own.nin == len(node.args) if isinstance(own, np.ufunc) else callable(own)
    instead = MATH_REPLACEMENTS.get(name, f"np.{name}" if fits else "")
    if not instead:
        return "Use NumPy's functions instead"
    arguments = ", ".join(ast.unparse(part) for part in node.args)
    return (
        f"Write {instead}({arguments})" if len(arguments) < MAX_REPLACEMENT else f"Write {instead}"
    )


def _replace(node: ast.AST, text: str) -> str:
    """Return the advice to replace one expression by another, written out if both are short."""
    old = ast.unparse(node)
    if len(old) + len(text) > MAX_REPLACEMENT >= len(text):
        old = f"{old.partition('(')[0]}(...)"
    elif len(text) > MAX_REPLACEMENT:
        call = text.partition("np.stack(")[1] or text.partition("(")[0]
        return f"Build one tensor from the list first, with {call}...)"
    return f"Write {text} instead of {old}"


def _as_list(node: ast.expr) -> str:
    return ast.unparse(ast.List(node.elts) if isinstance(node, ast.Tuple) else node)


def at(event: Event) -> str:
    """Return the line of an event: " on line 3 (y = float(x))"."""
    return f" on {format_line(event.place)}" if event.place else ""


def with_article(word: str) -> str:
    """Return a word with its article: "an int"."""
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


def listed(names: list[str]) -> str:
    """Join names for a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def kind(value: Any) -> str:
    """Return the kind of values in an array that has no derivative: booleans or integers."""
    return "booleans" if value.dtype.kind == "b" else "integers"


def as_real(value: Any) -> str:
    """Write a value as code with real numbers: "3.0"."""
    real = unwrap(value).astype(float)
    if not real.shape:
        return format_entries(real)
    return (
        f"np.array({format_entries(real)})" if real.size <= SHOWN else "np.array(..., dtype=float)"
    )
