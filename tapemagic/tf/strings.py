"""Functions of strings: ``tf.strings``, without those whose results have rows of different lengths."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.printing import summary
from tapemagic.tf.core.text import StringTensor, each_string, string_array
from tapemagic.tf.errors import InvalidArgumentError


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Join strings, element by element.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.strings.join(["abc", "def"], separator=" ").numpy()
    b'abc def'
    """
    arrays = np.broadcast_arrays(*map(string_array, inputs))
    result = arrays[0]
    for array in arrays[1:]:
        result = result + separator.encode() + array
    return StringTensor(result)


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Convert numbers to strings.

    Parameters
    ----------
    precision : int, optional
        The number of digits after the point, by default 6.
    scientific, shortest : bool, optional
        Write exponents; write the shorter form.
    width : int, optional
        Fill up with `fill`, "0" or " ", to this length.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.strings.as_string([3.14159, 2.72], precision=2).numpy()
    array([b'3.14', b'2.72'], dtype=object)
    """
    if scientific and shortest:
        raise OptionError("as_string takes scientific=True or shortest=True, not both")
    numbers = np.asarray(unwrap(tensor(input)))
    digits = f".{precision}" if precision >= 0 else ""
    size = f"{fill}{width}" if width >= 0 else ""
    form = f"%{size}{digits}{'e' if scientific else 'g' if shortest else 'f'}"

    def text(x: Any) -> Any:
        if numbers.dtype.kind == "b":
            return "true" if x else "false"
        if numbers.dtype.kind == "c":
            return f"({form % x.real},{form % x.imag})"
        return form % x if numbers.dtype.kind == "f" else f"%{size}d" % x

    result = np.empty(numbers.shape, object)
    result.ravel()[...] = [text(x) for x in numbers.ravel()]
    return StringTensor(result)


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return the number of bytes, or of characters with unit="UTF8_CHAR"."""
    if unit not in {"BYTE", "UTF8_CHAR"}:
        raise OptionError(f"unit must be 'BYTE' or 'UTF8_CHAR', not {unit!r}")
    if unit == "BYTE":
        return each_string(len, input, np.int32)
    return each_string(lambda x: len(x.decode()), input, np.int32)


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Return strings in lower case; other letters than a to z only with encoding="utf-8"."""
    return each_string(lambda x: x.decode().lower().encode() if encoding else x.lower(), input)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Return strings in upper case; other letters than a to z only with encoding="utf-8"."""
    return each_string(lambda x: x.decode().upper().encode() if encoding else x.upper(), input)


def strip(input: Any, name: str | None = None) -> Any:
    """Return strings without white space at their ends."""
    return each_string(bytes.strip, input)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return the part of each string from `pos` on, of at most `len` bytes."""
    if unit != "BYTE":
        raise OptionError("substr counts bytes here: write x.numpy().decode()[pos:end]")
    first, count = int(unwrap(tensor(pos))), int(unwrap(tensor(len)))

    def part(x: bytes) -> bytes:
        size = x.__len__()
        start = first + size if first < 0 else first
        if not 0 <= start <= size:
            raise InvalidArgumentError(f"pos {first} out of range for string b'{x.decode()}'")
        return x[start : start + count]

    return each_string(part, input)


def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Any:
    """Replace what a regular expression matches."""
    compiled, count = re.compile(pattern.encode()), 0 if replace_global else 1
    return each_string(lambda x: compiled.sub(rewrite.encode(), x, count=count), input)


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Any:
    """Return where a regular expression matches whole strings."""
    compiled = re.compile(pattern.encode())
    return each_string(lambda x: compiled.fullmatch(x) is not None, input, bool)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """Join the strings along an axis, by default all of them."""
    array = string_array(inputs)
    place = separator.encode()
    if axis is None:
        joined = np.asarray(place.join(array.ravel()), object)
        return StringTensor(joined.reshape((1,) * array.ndim) if keepdims else joined)
    rows = np.moveaxis(array, axis, -1)
    result = np.empty(rows.shape[:-1], object)
    for index in np.ndindex(result.shape):
        result[index] = place.join(rows[index])
    return StringTensor(np.expand_dims(result, axis) if keepdims else result)


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Split a single string; for several strings, the rows would have different lengths."""
    array = string_array(input)
    if array.ndim:
        raise OptionError(
            "the parts of several strings have rows of different lengths, and tensors have rows of equal length: write "
            "[tf.strings.split(x) for x in strings]"
        )
    separator = None if sep in (None, "") else string_array(sep)[()]
    return StringTensor(np.array(array[()].split(separator, maxsplit), object))


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Split a single string into its bytes."""
    array = string_array(input)
    if array.ndim:
        raise OptionError("write [tf.strings.bytes_split(x) for x in strings]")
    return StringTensor(np.array([bytes([x]) for x in array[()]], object))


def to_number(input: Any, out_type: Any = "float32", name: str | None = None) -> Any:
    """Convert strings to numbers."""
    kind = numpy_dtype(out_type)

    def number(x: bytes) -> Any:
        try:
            return int(x) if kind.kind in "iu" else float(x)
        except ValueError:
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {x.decode()}"
            ) from None

    return each_string(number, input, kind)


def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Any:
    """Write tensors into the places of a template, as tf.print writes them."""
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    parts = template.split(placeholder)
    if parts.__len__() != values.__len__() + 1:
        raise OptionError(
            f"the template has {parts.__len__() - 1} places for {values.__len__()} values"
        )
    words = [
        summary(np.asarray(unwrap(tensor(value))), summarize) + part
        for value, part in zip(values, parts[1:], strict=True)
    ]
    return StringTensor(parts[0] + "".join(words))


__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip", "substr", "to_number", "upper",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
