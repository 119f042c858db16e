"""Cases of NumPy's Bessel function."""

from __future__ import annotations

import numpy as np

from tests.rules.harness import between, case, normal, refused, special

CASES = [
    *(case(np.i0, None, normal(*shape), label=str(shape)) for shape in ((), (3,), (2, 3), (0,))),
    case(np.i0, None, np.array([0.0, 1e-9, 1e-3, -5.0]), label="near 0"),
    case(np.i0, None, np.array([-30.0, 8.0, 60.0]), label="wide"),
    case(np.i0, lambda x: np.i0(x=x), between(-2, 2, 3), label="name"),
]

SPECIAL = [  # from mpmath.besseli(1, x)
    special(np.i0, None, [np.array([0.0, 1e-300])], [np.array([0.0, 5e-301])], "at 0"),
    special(np.i0, None, [np.array([700.0])], [np.array([1.528500390233901e302])], "far"),
]

REFUSED = [refused(np.i0, None, (1 + 1j,), TypeError, "i0 not supported for complex values")]
