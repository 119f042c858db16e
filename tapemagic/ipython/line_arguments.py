"""Parse and check the names and options in the lines of magics."""

from __future__ import annotations

import builtins
import difflib
import re
import unicodedata
from collections.abc import Mapping
from keyword import iskeyword
from types import ModuleType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import parse_argstring

from tapemagic.engine.tensor.tensor import Traced
from tapemagic.explain.formatting import printable
from tapemagic.ipython.options import OPTIONS
from tapemagic.ipython.runcell import Cell

# argparse's own messages, in its English; Python has no structured form of them.
UNKNOWN = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)
# In `--what-if a= -3:3` argparse takes -3:3 for an option.
RANGE = re.compile(r"(?:^|\s)-[\d.]+:")
VALUE_GIVEN = re.compile(r"argument (?:\S+/)?(\S+): ignored explicit argument .*", re.DOTALL)
WITHOUT_VALUE = re.compile(r"argument (\S+): expected (?:at least )?one argument")


def parse_line(magic: Any, line: str, name: str = "%%tape") -> Any:
    """Parse the options in the line of a magic.

    Raises UsageError for an unmatched quotation mark, an unknown option, and an option without a value.
    """
    try:
        return parse_argstring(magic, line)
    except ValueError as error:
        raise UsageError(
            f"{name}: {error} in {line!r}: write names without quotation marks, as in %%tape x y"
        ) from None
    except UsageError as error:
        raise UsageError(f"{name}: {_advice(str(error), name)}") from None


def _advice(message: str, name: str) -> str:
    """Replace a message of argparse by advice."""
    if match := UNKNOWN.match(message):
        if RANGE.search(match[1]):
            return f"{printable(match[1])!r} stands alone: write a range without spaces, as in --what-if a=-3:3"
        option = next((word for word in match[1].split() if word.startswith("-")), "")
        return _unknown_option(option, name) if option else _misplaced(match[1], name)
    if match := WITHOUT_VALUE.match(message):
        option = match[1].partition("/")[0]
        value = next(x.metavar for x in OPTIONS[name] if option in x.flags)
        return f"{match[1].replace('/', ' or ')} needs a value: write {option} {value}"
    return VALUE_GIVEN.sub(r"\1 takes no value: write \1 alone", message)


def _unknown_option(option: str, name: str) -> str:
    """Suggest the nearest option to an unknown one, or list all options."""
    word = option.partition("=")[0]
    flags = [flag for x in OPTIONS[name] for flag in x.flags]
    # Of one or two letters every option is near.
    near = difflib.get_close_matches(word.lower(), flags, 1, 0.6) if len(word) > 2 else []
    nearest = f"the nearest is {near[0]}" if near else f"the options are {', '.join(flags)}"
    return f"there is no option {printable(word)}: {nearest}"


def _misplaced(words: str, name: str) -> str:
    """Return advice on superfluous names, or names after the options."""
    if name != "%%tape":
        return f"one name is enough: leave {printable(words)!r} out"
    where = "write the names to watch in front of them, as in %%tape x y -o 2"
    return f"{printable(words)!r} stands behind the options: {where}"


def names_in(words: list[str]) -> list[str]:
    """Split words at commas into names."""
    return [normalize(name) for word in words for name in word.split(",") if name]


def normalize(name: str) -> str:
    """Normalize a name as Python normalizes identifiers (NFKC): ϕ and φ are the same letter."""
    return unicodedata.normalize("NFKC", name)


def tensor_named(name: str, namespace: Mapping[str, Any], magic: str) -> Traced:
    """Look up a tensor by its name in the line of a magic.

    Raises UsageError if the name does not exist, or its value is not a tensor.
    """
    value = namespace.get(normalize(name))
    if not isinstance(value, Traced):
        if not is_name(normalize(name)):
            raise UsageError(
                f"{magic}: {name!r} is no name: give it one, as in w = model.kernel, and ask by that name"
            )
        what = "does not exist: name a"
        if normalize(name) in namespace:
            what = f"is of type {type(value).__name__}, and no"
        raise UsageError(f"{magic}: {name!r} {what} Tensor or Variable of the last %%tape cell")
    return value


def distinct_names(words: list[str]) -> list[str]:
    """Split words at commas into names, without repetitions."""
    return list(dict.fromkeys(names_in(words)))


def order_of(text: str, magic: str = "%%tape") -> int:
    """Parse the order of derivatives in an option."""
    # Not int(text): that would accept "٣", " 2 " and "1_0".
    if text not in {*"123456789"}:
        raise UsageError(
            f"{magic}: the order must be an integer from 1 to 9, not {text!r}: write -o 2"
        )
    return int(text)


def is_name(text: str) -> bool:
    """Return True if text is a valid variable name."""
    return text.isidentifier() and not iskeyword(text)


def check_options(options: Any, names: list[str], namespace: dict[str, Any]) -> None:
    """Raise an error if the tape's name is invalid, watched, or the name of a module or function."""
    if not is_name(options.name):
        raise UsageError(f"%%tape: {options.name!r} cannot be the name of a tape: write -n t")
    if options.name in names:
        raise UsageError(
            f"%%tape: {options.name!r} is what the tape is called in the cell: give the tape another name with -n t"
        )
    # Also built-in functions: a tape named `sum` would hide sum() in the whole notebook.
    value = namespace.get(options.name, getattr(builtins, options.name, None))
    if isinstance(value, ModuleType) or callable(value):
        what = "module" if isinstance(value, ModuleType) else "function"
        raise UsageError(
            f"%%tape: {options.name!r} is a {what}, and the tape would take its name: give the tape another name "
            "with -n t"
        )


def check_names(cell: Cell, watch: list[str], targets: list[str]) -> None:
    """Raise an error for names that are neither in the notebook nor assigned by the cell."""
    for name in [*watch, *targets]:
        if not is_name(name):
            raise UsageError(
                f"%%tape: {name!r} isn't a variable name: write names apart, as in %%tape x y"
            )
        if name not in cell.namespace and name not in cell.assigned:
            advice = f"write {name} = 3.0 in the cell, or in a cell above"
            if name not in watch:
                advice = "-t names values that the cell computes"
            raise UsageError(
                f"%%tape: there is no variable {name!r} in the notebook, and the cell does not assign one: {advice}"
            )
