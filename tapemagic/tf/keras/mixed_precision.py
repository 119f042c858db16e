"""``tf.keras.mixed_precision``: the dtype of layers."""

from tapemagic.nn.config import DTypePolicy, dtype_policy, set_dtype_policy
from tapemagic.tf.core.missing import missing

Policy = DTypePolicy
global_policy = dtype_policy
set_global_policy = set_dtype_policy

__all__ = [
    "DTypePolicy", "Policy", "dtype_policy", "global_policy", "set_dtype_policy", "set_global_policy",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
