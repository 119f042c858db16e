"""Write docs/coverage.md: what becomes of a gradient in each callable of numpy, numpy.linalg and numpy.fft."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tapemagic  # noqa: F401  (begins to fill the table)
from tapemagic.engine import registry
from tapemagic.engine.rules.indexing import INSTEAD

registry.complete()

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
MODULES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft}

STORED = Path(__file__).with_name("dask_table.json")
"""Which functions are computed on Dask arrays, as `make rule-table` found it."""

GRADIENT, PLAIN, REFUSED, NONE = "differentiable", "plain", "refused", "no tensors"
CLASSES = {
    GRADIENT: "gradients of every order go through it",
    PLAIN: "knowingly not differentiable: constant almost everywhere, not made of real numbers, or a conversion to "
    "a plain value, which `tape.explain` names with its line",
    REFUSED: "an error says what to write in its place",
    NONE: "it does not take tensors",
}

BY_WIDTH = frozenset({"float96", "float128", "complex192", "complex256"})
"""Other names of longdouble and clongdouble, which differ from one machine to the next."""

ABSTRACT = frozenset(
    {
        np.generic,
        np.number,
        np.integer,
        np.signedinteger,
        np.unsignedinteger,
        np.inexact,
        np.floating,
        np.complexfloating,
        np.flexible,
        np.character,
    }
)

REASONS: dict[str, dict[str, str]] = {
    GRADIENT: {
        "a tensor's zeros in front stay, and what its methods compute stays on the tape; to NumPy's functions it is a "
        "plain array": "poly1d",
        "a tensor's zeros in front stay": "polymul",
        "the remainder keeps zeros in front": "polydiv",
        "an older name of vstack": "row_stack",
        "an older name of trapezoid": "trapz",
        "returns what its function returns": "fromfunction",
        "in the spacing d": "fft.fftfreq fft.rfftfreq",
        "the remainder; the quotient is constant": "divmod",
        "the fraction; the whole is constant": "modf",
        "the mantissa; the exponent is a whole number": "frexp",
        "the weights, edges and densities; counts are constant": "histogram2d histogramdd",
        "the weights, edges and densities; counts are constant; of a tensor in range, the first argument must be a "
        "tensor, too": "histogram",
        "of a tensor in nan, posinf or neginf, the first argument must be a tensor, too": "nan_to_num",
        "of a tensor in period, the first argument must be a tensor, too": "unwrap",
        "of a tensor in mean, the first argument must be a tensor, too": "nanstd nanvar",
        "the values; places and counts are whole numbers": "unique unique_all unique_counts unique_inverse",
        "the values, read from the first array": "intersect1d setdiff1d",
        "the weights": "bincount",
        "the choices; the condition is constant": "where choose select piecewise",
        "the fill value; the first argument must be a tensor, too": "full_like",
    },
    PLAIN: {
        "constant almost everywhere": "around ceil fix floor floor_divide rint round spacing trunc",
        "a new array": "empty_like ones_like zeros_like",
        "truth values": (
            "all allclose any array_equal array_equiv equal greater greater_equal isclose iscomplex isfinite isin "
            "isinf isnan isneginf isposinf isreal less less_equal logical_and logical_not logical_or logical_xor "
            "may_share_memory not_equal shares_memory signbit"
        ),
        "places": (
            "argmax argmin argpartition argsort argwhere diag_indices_from digitize flatnonzero ix_ lexsort nanargmax "
            "nanargmin nonzero ravel_multi_index searchsorted tril_indices_from triu_indices_from unravel_index"
        ),
        "whole numbers": (
            "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
            "bitwise_xor count_nonzero gcd invert lcm left_shift linalg.matrix_rank packbits right_shift unpackbits"
        ),
        "its shape": "ndim shape size",
        "its dtype": (
            "can_cast common_type dtype finfo iscomplexobj isrealobj issubdtype mintypecode min_scalar_type "
            "promote_types result_type"
        ),
        "the best order of a sum": "einsum_path",
        "a file": "save savez savez_compressed savetxt",
        "NumPy does not ask a tensor; with like=t it does, and the gradient goes through": (
            "array asanyarray asarray full"
        ),
        "NumPy does not ask a tensor: a conversion; np.stack keeps the path": "bmat fromiter",
        "NumPy does not ask a tensor: a conversion": (
            "asarray_chkfinite ascontiguousarray asfortranarray asmatrix matrix require"
        ),
        "NumPy does not ask a tensor: a conversion; np.linspace keeps the path": "arange",
        "the number of points is a whole number": "bartlett blackman hamming hanning tri",
        "NumPy does not ask a tensor of beta: a conversion; np.i0 keeps the path": "kaiser",
        "calls its function with plain numbers; np.apply_along_axis keeps the path": "vectorize",
        "goes through a plain array": "broadcast ndenumerate nditer",
        "an array of tensors or of plain numbers, without arithmetic": "object_",
        "text or bytes": (
            "array2string array_repr array_str base_repr bytes_ format_float_positional format_float_scientific "
            "record str_ void"
        ),
        "whether it is a number, or a sequence": "isscalar iterable",
        "the size, a whole number": "diag_indices tril_indices triu_indices",
    },
    REFUSED: {
        "what it makes has no derivative rule; give it one with tapemagic.custom_gradient": "frompyfunc",
    },
    NONE: {
        "dates": (
            "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat "
            "timedelta64"
        ),
        "shapes and counts are whole numbers": (
            "binary_repr broadcast_shapes empty eye identity indices mask_indices ndarray ndindex ones recarray zeros"
        ),
        "kinds of dtypes": "iinfo isdtype typename",
        "the layout in memory, which a tensor keeps to itself": "isfortran",
        "made by NumPy itself": "flatiter nested_iters ufunc",
        "reads a file, a buffer or text": (
            "from_dlpack frombuffer fromfile fromregex fromstring genfromtxt load loadtxt memmap"
        ),
        "settings": (
            "errstate get_printoptions getbufsize geterr geterrcall printoptions set_printoptions setbufsize seterr "
            "seterrcall"
        ),
        "about NumPy": "get_include info show_config show_runtime test linalg.test fft.test",
        "an exception": "linalg.LinAlgError",
    },
}


DASK = (
    "The column Dask says whether a function and its gradient are computed on Dask arrays, by the cases of the tests",
    "of its rule: in all of them, cut along the first axis; where the axes along which it works are in one chunk; for",
    "some arguments alone; or not at all, and an error says what to write in its place. It is empty where there is no",
    "gradient, or no such case.",
)


class Entry(NamedTuple):
    """A callable with its class and a note."""

    module: str
    name: str
    kind: str
    note: str


def callables() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Every public callable: its module, its name after ``np.``, and itself."""
    for module, namespace in MODULES.items():
        prefix = "".join(f"{part}." for part in module.split(".")[1:])
        for name in sorted(dir(namespace)):
            found = getattr(namespace, name)
            if callable(found) and not name.startswith("_"):
                yield module, prefix + name, found


def explained() -> dict[str, tuple[str, str]]:
    """The classes and reasons that are written down here, by name."""
    return {
        name: (kind, reason)
        for kind, reasons in REASONS.items()
        for reason, names in reasons.items()
        for name in names.split()
    }


def classify(name: str, function: Callable[..., Any]) -> tuple[str, str] | None:
    """The class and the note of a callable; None if nobody has decided about it."""
    explanation = explained().get(name)
    if explanation:
        return explanation
    if isinstance(function, type) and issubclass(function, np.generic):
        if function in ABSTRACT:
            return NONE, "an abstract kind of numbers"
        return PLAIN, "a conversion to plain numbers"
    if function in INSTEAD:
        return REFUSED, INSTEAD[function]
    if function in registry.PLAIN:
        return PLAIN, ""
    if registry.is_known(function):
        own = function.__name__
        return GRADIENT, "" if name.endswith(own) else f"the same as {own}"
    return None


def entries() -> list[Entry]:
    """All callables that have a class."""
    found = ((module, name, classify(name, f)) for module, name, f in callables())
    return [Entry(module, name, *state) for module, name, state in found if state]


def version() -> str:
    """The installed NumPy's version, as far as new functions come with it."""
    return ".".join(np.__version__.split(".")[:2])


def documented_version() -> str:
    """The version of NumPy for which the document was written."""
    found = re.search(r"NumPy (\d+\.\d+)", DOCUMENT.read_text(encoding="utf-8"))
    return found.group(1) if found else ""


def document() -> str:
    """The whole text of docs/coverage.md."""
    shown = [entry for entry in entries() if entry.name not in BY_WIDTH]
    counts = Counter((entry.module, entry.kind) for entry in shown)
    lines = [
        "# What becomes of a gradient in NumPy",
        "",
        f"Every public callable of NumPy {version()} is in one of four classes.",
        "This page is written by `tools/coverage_table.py`.",
        "",
        *table(
            ["Class", "Meaning", *MODULES],
            (
                [kind, meaning, *(str(counts[module, kind]) for module in MODULES)]
                for kind, meaning in CLASSES.items()
            ),
        ),
    ]
    lazy = json.loads(STORED.read_text(encoding="utf-8"))
    lines += ["", *DASK]
    for module in MODULES:
        rows = (
            [f"`np.{e.name}`", e.kind, lazy.get(e.name, "") if e.kind == GRADIENT else "", e.note]
            for e in shown
            if e.module == module
        )
        lines += ["", f"## {module}", "", *table(["Callable", "Class", "Dask", "Note"], rows)]
    return "\n".join(lines) + "\n"


def table(head: list[str], rows: Any) -> Iterator[str]:
    """The lines of a table."""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |".replace("  |", " |")


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    print(f"{DOCUMENT.name}: {len(entries())} callables")
