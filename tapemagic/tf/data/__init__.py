"""``tf.data``: datasets that are shuffled, batched and iterated over."""

from __future__ import annotations

from types import SimpleNamespace

from tapemagic.tf.core.missing import missing
from tapemagic.tf.data.cardinality import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from tapemagic.tf.data.cardinality import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from tapemagic.tf.data.dataset import AUTOTUNE as AUTOTUNE
from tapemagic.tf.data.dataset import Dataset as Dataset

experimental = SimpleNamespace(
    AUTOTUNE=AUTOTUNE,
    INFINITE_CARDINALITY=INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY=UNKNOWN_CARDINALITY,
    cardinality=lambda dataset: dataset.cardinality(),
)
"""TensorFlow's former place of these names."""

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "experimental"]
__getattr__ = missing(__name__, __all__)
