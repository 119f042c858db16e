"""Options of the magics, declared once for parsing, help and tab completion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from IPython.core.magic_arguments import MagicHelpFormatter, argument, kwds, magic_arguments

from tapemagic.ipython.help import MORE, USAGE

# Not the terminal's width: the help is part of docstrings, and must be the same on all machines.
WIDTH = 79
HEADINGS = {"positional arguments": "Arguments", "options": "Options"}


@dataclass(frozen=True)
class Option:
    """Option of a magic; with a name instead of flags, a positional argument.

    - `names`: ``-t`` and ``--target``, or the name of an argument.
    - `hint`: A few words for the list of completions.
    - `help`: A sentence, with the default.
    - `metavar`: Placeholder of its value, or "" for a flag.
    - `default`: Default of an option with a value.
    - `nargs`: As in argparse, or "" for exactly one value.
    """

    names: tuple[str, ...]
    hint: str
    help: str
    metavar: str = ""
    default: Any = ""
    nargs: str = ""

    @property
    def declaration(self) -> Callable[[Any], Any]:
        """Decorator that adds this option to a magic."""
        words: dict[str, Any] = {"help": self.help}
        if self.metavar:
            words |= {"metavar": self.metavar, "default": self.default}
        else:
            words["action"] = "store_true"
        if self.nargs:
            words["nargs"] = self.nargs
        return argument(*self.names, **words)

    @property
    def flags(self) -> tuple[str, ...]:
        """Names that start with a dash."""
        return tuple(name for name in self.names if name.startswith("-"))


class Help(MagicHelpFormatter):
    """Help formatter of a magic, independent of the terminal's width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=WIDTH)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add the usage as a code block; argparse reads ``%%`` as ``%``."""
        escaped = usage.strip().replace("%", "%%")
        super().add_usage(escaped, actions, groups, prefix or "Usage::\n\n  ")

    def start_section(self, heading: str | None) -> None:
        """Start a list of arguments or options."""
        super().start_section(HEADINGS.get(heading or "", heading))

    def _format_action_invocation(self, action: Any) -> str:
        """Format the names of an option, with its placeholder once."""
        more = " ..." if action.nargs in ("*", "+") else ""
        value = "" if action.nargs == 0 else f"{action.metavar}{more}"
        return " ".join(filter(None, [", ".join(action.option_strings), value]))


def documented(name: str) -> Callable[[Any], Any]:
    """Add its options and help to a magic."""

    def decorate(function: Any) -> Any:
        # IPython adds the arguments of a magic in the reverse order of their decorators.
        for option in reversed(OPTIONS[name]):
            function = option.declaration(function)
        words = {"usage": USAGE[name], "epilog": MORE[name], "formatter_class": Help}
        return magic_arguments(name.lstrip("%"))(kwds(**words)(function))

    return decorate


ORDER = Option(
    ("-o", "--order"),
    "highest order of derivatives",
    "Show the derivatives up to this order, a number from 1 to 9. The default is 1.",
    "ORDER",
    "1",
)

OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "%%tape": (
        Option(
            ("names",),
            "",
            "What to watch: variables of the notebook, or names that the cell assigns. They come before -t, "
            "or after a double dash. A Variable that the cell reads is watched automatically.",
            "NAME",
            (),
            "*",
        ),
        Option(
            ("-t", "--target"),
            "what to differentiate",
            "What to differentiate. The default is the expression at the end of the cell, or else the last value "
            "that the cell assigned and that depends on what is watched.",
            "NAME",
            (),
            "+",
        ),
        ORDER,
        Option(
            ("-p", "--persistent"),
            "allow several tape.gradient",
            "Let tape.gradient be called more than once. By default, once.",
        ),
        Option(
            ("-n", "--name"),
            "the name of the tape",
            "Call the tape by this name in the cell and after it. The default is tape.",
            "TAPE_NAME",
            "tape",
        ),
        Option(
            ("--no-auto-watch",),
            "do not watch Variables",
            "Watch only what is named, and no Variable automatically.",
        ),
        Option(
            ("--plain",),
            "plain numbers after the cell",
            "Give the names back as plain numbers after the cell: watched values as they came, and results as arrays "
            "and NumPy scalars. Variables stay. %%gradient and %%why still know the names. By default, names are "
            "tensors after the cell.",
        ),
        Option(
            ("--jacobian",),
            "every element's derivative",
            "Show the derivative of every element of a target, not only of their sum.",
        ),
        Option(
            ("--hessian",),
            "all second derivatives",
            "Show the matrix of all second derivatives.",
        ),
        Option(
            ("--check",),
            "compare with finite differences",
            "Check all derivatives in the report, of any order, by finite differences: of the recorded operations, and "
            "of the cell, which runs again with nudged inputs. So it finds what left the tape, and says where.",
        ),
        Option(
            ("--code",),
            "the derivatives as a program",
            "Show the derivatives as a NumPy program, also where the report is stored as text or HTML.",
        ),
        Option(
            ("--compute",),
            "compute Dask arrays",
            "Compute the Dask arrays that the report shows, if they hold at most 1 MB: all of them together, by Dask's "
            "scheduler. By default a report computes nothing, and shows how they are cut into chunks.",
        ),
        Option(
            ("--plot",),
            "curves over a range",
            "Draw the target and its derivatives over a range of one variable, as in x=-6:6. The cell runs again for "
            "each point, and the variables keep the values of the ordinary run.",
            "NAME=LOW:HIGH",
        ),
        Option(
            ("--what-if",),
            "sliders that run the cell again",
            "Sliders for these real numbers and small arrays, of the notebook or assigned by the cell. Moving one runs "
            "the cell again. A range may follow a name; the default is around its value.",
            "NAME[=LOW:HIGH]",
            (),
            "+",
        ),
    ),
    "%tape": (
        ORDER,
        Option(
            ("expression",),
            "",
            "An expression of the notebook. Every number, array and Variable in it is watched.",
            "EXPRESSION",
        ),
    ),
    "%tape_graph": (
        Option(
            ("target",),
            "",
            "A value of the cell. The default is what its report differentiates.",
            "TARGET",
            None,
            "?",
        ),
        Option(
            ("--iteration",),
            "which iteration of a loop",
            "Open this iteration of a loop, counted from 1. By default, the last.",
            "K",
        ),
        Option(
            ("--nodes",),
            "room for this many nodes",
            "Make room for this many nodes, from 20 to 2000. By default, four times as many as in a report.",
            "N",
        ),
        Option(
            ("--dot",),
            "the source for Graphviz",
            "Return the source of the picture in Graphviz's language DOT, as a string.",
        ),
    ),
    "%tape_function": (
        Option(
            ("function",),
            "",
            "A function decorated with tapemagic.function, or an expression for one.",
            "FUNCTION",
        ),
        Option(
            ("arguments",),
            "",
            "Expressions for the arguments of a call: show only the program of that call.",
            "ARGUMENT",
            (),
            "*",
        ),
    ),
    "%gradient": (
        Option(("target",), "", "What to differentiate: a value of the cell.", "TARGET"),
        Option(
            ("source",),
            "",
            "What to differentiate with respect to: a watched value, or one computed from it.",
            "SOURCE",
            (),
            "+",
        ),
    ),
    "%why": (
        Option(("target",), "", "What to differentiate.", "TARGET"),
        Option(("source",), "", "What to differentiate with respect to.", "SOURCE"),
    ),
    "%check_gradient": (
        Option(
            ("mine",),
            "",
            "An expression for your derivative: a number or an array of the source's shape.",
            "MINE",
        ),
        Option(("target",), "", "The name of what is differentiated.", "TARGET"),
        Option(("source",), "", "The name of what it is differentiated with respect to.", "SOURCE"),
        Option(
            ("--rtol",),
            "allowed relative difference",
            "An entry may differ by this times the tape's number, plus --atol. The default is 1e-6, or 1e-3 if one of "
            "the arrays is float32 or coarser.",
            "RTOL",
        ),
        Option(
            ("--atol",),
            "allowed absolute difference",
            "The part of the allowed difference that does not depend on the tape's number. The default is 1e-10, or "
            "1e-6 if one of the arrays is float32 or coarser.",
            "ATOL",
        ),
    ),
}
"""Options of each magic by its name with percent signs.

%tape, %gradient, %why and %check_gradient parse their lines themselves, because these contain expressions: their
entries here serve help and tab completion only.
"""
