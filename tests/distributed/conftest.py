"""The operation of `map_blocks` enters the table of rules before any test, and not in the midst of one."""

import pytest

dask = pytest.importorskip("dask")

from tapemagic.distributed import blocks  # noqa: E402, F401
