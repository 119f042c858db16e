"""Text as LaTeX: escapes special characters, and writes characters that TeX fonts lack as mathematics."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from tapemagic.explain.formatting import printable, replace_bars

SPECIAL = {
    "\\": "\\textbackslash{}",
    "{": "\\{",
    "}": "\\}",
    "$": "\\$",
    "&": "\\&",
    "#": "\\#",
    "%": "\\%",
    "_": "\\_",
    "^": "\\textasciicircum{}",
    "~": "\\textasciitilde{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "\\textquotedbl{}",
    "'": "\\textquotesingle{}",
    "`": "\\textasciigrave{}",
    ";": "{;}",
    "[": "{[}",
    "]": "{]}",
    "−": "$-$",
    "∂": "$\\partial$",
    "∇": "$\\nabla$",
    "…": "\\ldots{}",
    "–": "\\textendash{}",
    "—": "\\textemdash{}",
    "\u00a0": "~",
}
SPECIAL |= {letter: f"$_{digit}$" for digit, letter in enumerate("₀₁₂₃₄₅₆₇₈₉")}
SPECIAL |= {letter: f"$^{digit}$" for digit, letter in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}

ASCII = str.maketrans({letter: words for letter, words in SPECIAL.items() if letter.isascii()})
PLAIN = "×÷·±°"
"""Characters that every font has."""

GLYPH = r"""\providecommand\tapeglyph[2]{\ifdefined\Umathchar\iffontchar\font"#1 #2\else(U+#1)\fi\else#2\fi}%
"""
"""The command for a character that the font may lack; it prints the code point then."""


def tex(text: str) -> str:
    r"""Convert text to one line of LaTeX.

    Examples
    --------
    >>> print(tex("w_1 = {x₂} ∂α"))
    w\_1 = \{x$_2$\} $\partial$$\alpha$
    """
    # TeX joins two hyphens to a dash.
    if text.isascii() and text.isprintable():
        return text.translate(ASCII).replace("--", "-{}-")
    shown = replace_bars(
        printable(text), lambda name: rf"$\overline{{\mbox{{{tex(name)}}}}}$", _letters
    )
    return shown.replace("--", "-{}-")


def _letters(text: str) -> str:
    return "".join(map(_letter, text))


@lru_cache(maxsize=1000)
def _letter(letter: str) -> str:
    if letter in SPECIAL:
        return SPECIAL[letter]
    if letter.isascii() or letter in PLAIN:
        return letter
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK ") and (command := _greek(name)):
        return command
    # The fonts of xelatex have most mathematical symbols in math mode only.
    if unicodedata.category(letter) == "Sm":
        return f"${letter}$"
    return f"\\tapeglyph{{{ord(letter):04X}}}{{{letter}}}"


GREEK = frozenset(
    """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
    """.split()  # noqa: SIM905 -- a list of words
)


def _greek(name: str) -> str:
    """Return the command for a Greek letter by its Unicode name, or '' if LaTeX has no command."""
    # Unicode spells it LAMDA.
    words = name.removeprefix("GREEK ").replace("AMDA", "AMBDA").split(" LETTER ")
    if len(words) != 2:
        return ""
    command = words[1].lower() if words[0] == "SMALL" else words[1].capitalize()
    return f"$\\{command}$" if command in GREEK else ""
