"""Dtypes and conversions: ``tf.dtypes``."""

from tapemagic.tf.creation import cast as cast
from tapemagic.tf.creation import complex as complex
from tapemagic.tf.creation import saturate_cast as saturate_cast
from tapemagic.tf.dtype import DType as DType
from tapemagic.tf.dtype import as_dtype as as_dtype
from tapemagic.tf.dtype import bool as bool
from tapemagic.tf.dtype import complex128 as complex128
from tapemagic.tf.dtype import complex64 as complex64
from tapemagic.tf.dtype import double as double
from tapemagic.tf.dtype import float16 as float16
from tapemagic.tf.dtype import float32 as float32
from tapemagic.tf.dtype import float64 as float64
from tapemagic.tf.dtype import half as half
from tapemagic.tf.dtype import int16 as int16
from tapemagic.tf.dtype import int32 as int32
from tapemagic.tf.dtype import int64 as int64
from tapemagic.tf.dtype import int8 as int8
from tapemagic.tf.dtype import uint16 as uint16
from tapemagic.tf.dtype import uint32 as uint32
from tapemagic.tf.dtype import uint64 as uint64
from tapemagic.tf.dtype import uint8 as uint8
from tapemagic.tf.missing import missing

__all__ = [
    "DType",
    "as_dtype",
    "bool",
    "cast",
    "complex",
    "complex128",
    "complex64",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int16",
    "int32",
    "int64",
    "int8",
    "saturate_cast",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]

__getattr__ = missing(__name__, __all__)
