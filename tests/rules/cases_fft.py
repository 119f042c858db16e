"""Cases of the Fourier transforms."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy import fft

from tapemagic.errors import ShapeError
from tests.rules.harness import case, complexes, normal, quietly, refused

ONE = {
    fft.fft: (normal, complexes),
    fft.ifft: (normal, complexes),
    fft.rfft: (normal,),
    fft.irfft: (normal, complexes),
    fft.hfft: (normal, complexes),
    fft.ihfft: (normal,),
}
"""The transforms along one axis, and what they take."""

SEVERAL = {
    fft.fftn: (normal, complexes),
    fft.ifftn: (normal, complexes),
    fft.fft2: (normal, complexes),
    fft.ifft2: (normal, complexes),
    fft.rfftn: (normal,),
    fft.rfft2: (normal,),
    fft.irfftn: (normal, complexes),
    fft.irfft2: (normal, complexes),
}
"""The transforms along several axes, and what they take."""

ONE_OPTIONS: list[dict[str, Any]] = [
    *({"n": n} for n in (1, 2, 3, 4, 5, 8, 9)),
    *({"norm": norm} for norm in ("backward", "ortho", "forward")),
    *({"n": n, "norm": norm} for n in (4, 7) for norm in ("ortho", "forward")),
]

SEVERAL_OPTIONS: list[dict[str, Any]] = [
    {"axes": (0,)},
    {"axes": [1]},
    {"axes": (2, 0)},
    {"axes": (0, -1)},
    {"axes": (-2, 0, 2)},
    {"axes": (1, 1)},
    {"axes": (0, 0), "s": (2, 5)},
    {"axes": (-1, 0), "s": (5, 3)},
    {"axes": (0, -1), "s": (1, 6)},
    {"axes": (0, 1), "s": (-1, -1)},
    {"axes": (2, 1), "s": (2, -1), "norm": "forward"},
    *({"norm": norm} for norm in ("backward", "ortho", "forward")),
]

CASES = [
    *(
        case(f, None, make(*shape), label=f"{make.__name__} {shape}")
        for f, makes in ONE.items()
        for make in makes
        for shape in ((5,), (6,), (2, 3), (3, 2, 4))
    ),
    *(case(f, None, makes[-1](0, 3), label="empty") for f, makes in ONE.items()),
    *(
        case(f, partial(f, **options), make(2, 5), label=f"{make.__name__} {options}")
        for f, makes in ONE.items()
        for make in makes
        for options in ONE_OPTIONS
    ),
    *(
        case(f, partial(f, n=n, axis=axis), makes[-1](3, 4, 2), label=f"axis {axis} n {n}")
        for f, makes in ONE.items()
        for axis in (0, 1, -2, -3)
        for n in (None, 2, 5)
    ),
    *(case(f, lambda x, f=f: f(x, 4, 0, "ortho"), makes[-1](3, 2), label="by position") for f, makes in ONE.items()),
    *(
        case(f, None, make(*shape), label=f"{make.__name__} {shape}")
        for f, makes in SEVERAL.items()
        for make in makes
        for shape in ((3, 4), (2, 5), (2, 3, 4))
    ),
    *(case(f, None, make(5), label="one axis") for f, (*_, make) in SEVERAL.items() if "n" in f.__name__),
    *(
        case(f, partial(f, **options), make(3, 4, 3), label=f"{make.__name__} {options}")
        for f, makes in SEVERAL.items()
        for make in makes
        for options in SEVERAL_OPTIONS
    ),
    *(
        case(f, lambda x, f=f: f(x, (2, 6), (0, 1), "ortho"), makes[-1](3, 2, 2), label="by position")
        for f, makes in SEVERAL.items()
    ),
    *(
        case(f, quietly(lambda x, f=f: f(x, s=(2, 6), axes=None)), makes[-1](3, 2, 4), label="no axes")
        for f, makes in SEVERAL.items()
    ),
    *(
        case(f, quietly(lambda x, f=f: f(x, s=(None, None))), makes[-1](3, 4), label="no lengths")
        for f, makes in SEVERAL.items()
        if "2" in f.__name__
    ),
    *(
        case(f, None, make(), label=f"number {make.__name__}")
        for f in (fft.fftn, fft.ifftn)
        for make in (normal, complexes)
    ),
    *(
        case(f, partial(f, axes=axes), make(3, 4, 5), label=f"{make.__name__} {axes}")
        for f in (fft.fftshift, fft.ifftshift)
        for make in (normal, complexes)
        for axes in (None, 0, -1, np.int64(1), (0,), (2, 0), (-1, -1), [1, -3])
    ),
    *(case(f, None, normal(n), label=f"{n}") for f in (fft.fftshift, fft.ifftshift) for n in (1, 6, 7)),
    case(np.multiply, lambda d: fft.fftfreq(5, d), 0.3, label="fftfreq"),
    case(np.multiply, lambda d: fft.rfftfreq(6, d=d), 0.3, label="rfftfreq"),
    # there and back
    case(fft.fft, lambda x: np.abs(fft.ifft(fft.fft(x) ** 2)), complexes(2, 4), label="spectrum"),
    case(
        fft.rfft,
        lambda x, k: fft.irfft(fft.rfft(x) * fft.rfft(k), 5),
        normal(5),
        normal(5, seed=1),
        label="convolution",
    ),
]

REFUSED = [
    *(
        refused(
            f,
            lambda x, f=f: f(x, s=(2, 3), axes=(0,)),
            (normal(3, 4),),
            ShapeError,
            r"2 lengths s=\(2, 3\) for 1 axes=\(0,\)",
        )
        for f in SEVERAL
    ),
    *(refused(f, lambda x, f=f: f(x, n=0), (normal(3),), ValueError, "data points") for f in ONE),
    *(refused(f, lambda x, f=f: f(x, norm="unit"), (normal(3),), ValueError, "norm value unit") for f in ONE),
    *(refused(f, None, (complexes(3),), TypeError, "safe") for f in (fft.rfft, fft.ihfft)),
]
