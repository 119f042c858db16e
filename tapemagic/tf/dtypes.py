"""Dtypes and conversions: ``tf.dtypes``."""

from tapemagic.tf.core.dtype import (
    DType,
    as_dtype,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.creation import cast, complex, saturate_cast

__all__ = [
    "DType", "as_dtype", "bool", "cast", "complex", "complex64", "complex128", "double", "float16",
    "float32", "float64", "half", "int8", "int16", "int32", "int64", "saturate_cast", "uint8",
    "uint16", "uint32", "uint64",
]  # fmt: skip

__getattr__ = missing(__name__, __all__)
