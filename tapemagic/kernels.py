"""Kernels: functions of NumPy arrays that programs of `tapemagic.function` call in addition to NumPy's functions.

A program that is pasted into a script imports its kernels from here.

Examples
--------
>>> import numpy as np
>>> from tapemagic.kernels import with_added
>>> with_added(np.zeros(4), np.array([1.0, 2.0]), slice(2))
array([1., 2., 0., 0.])
"""

# ruff: noqa: PLC0414 (re-exported on purpose)

from tapemagic.engine.operations.common import where_mask as where_mask
from tapemagic.engine.operations.convolving import convolution as convolution
from tapemagic.engine.operations.convolving import kernel_gradient as kernel_gradient
from tapemagic.engine.operations.convolving import transposed_convolution as transposed_convolution
from tapemagic.engine.operations.normalization import masked as masked
from tapemagic.engine.operations.pooling import average as average
from tapemagic.engine.operations.pooling import first_maxima as first_maxima
from tapemagic.engine.operations.pooling import maximum as maximum
from tapemagic.engine.operations.pooling import spread_average as spread_average
from tapemagic.engine.operations.pooling import spread_chosen as spread_chosen
from tapemagic.engine.operations.pooling import take_chosen as take_chosen
from tapemagic.engine.operations.scatter import add_at_places as add_at_places
from tapemagic.engine.operations.scatter import add_scattered as add_scattered
from tapemagic.engine.operations.scatter import with_added as with_added
from tapemagic.engine.operations.sparse_losses import (
    sparse_cross_entropy_slopes as sparse_cross_entropy_slopes,
)
from tapemagic.engine.operations.tails import exp2_slope as exp2_slope
from tapemagic.engine.operations.tails import one_minus_sigmoid as one_minus_sigmoid
from tapemagic.engine.operations.tails import sigmoid_error as sigmoid_error
from tapemagic.engine.operations.windows import Slide as Slide
from tapemagic.engine.operations.workspace import aligned_like as aligned_like
from tapemagic.engine.rules.norm_rules import spectral as spectral
from tapemagic.engine.tape.careful_sweep import holds_nan as holds_nan
from tapemagic.engine.tensor.precision import sum_of_rows as sum_of_rows
