"""Gradients over data that doesn't fit into memory: Dask runs an ordinary tape on each partition.

Examples
--------
>>> import dask.array as da, numpy as np, tapemagic as tm
>>> x = da.arange(8, chunks=3)
>>> loss_and_grad = tm.distributed.value_and_grad(lambda w, x: np.mean((w * x - x) ** 2), x)
>>> loss_and_grad(3.0)
(np.float64(70.0), np.float64(70.0))
"""

from tapemagic.distributed.mapping import map_blocks as map_blocks
from tapemagic.distributed.value_and_grad import value_and_grad as value_and_grad
