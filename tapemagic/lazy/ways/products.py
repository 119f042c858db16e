"""Products of matrices."""

from __future__ import annotations

from tapemagic.lazy.ways.table import as_dask_does

as_dask_does("matmul", "dot", "tensordot")
