"""Everything that tapemagic raises on purpose, under one root.

::

    TapeError
    ├── ConsumedTapeError (RuntimeError)       a second gradient of a non-persistent tape
    ├── NotRecordingError (RuntimeError)       a tape that was never entered, or a pause of one that is used up
    ├── TapeStateError (ValueError)            the tape is, or is not, recording just now
    ├── OptionError (ValueError)               a value that an option does not know
    ├── ShapeError (ValueError)                arrays whose shapes do not match
    │   └── RankError (TypeError)              several numbers where there has to be one, or the other way round
    ├── DtypeError (TypeError)                 a dtype that no tensor has, or into which a value does not fit
    ├── NotATensorError (TypeError)            a target, source or output gradient that is no tensor
    │   ├── NotWatchableError (ValueError)     the same, of what a tape is to watch
    │   └── NotNumbersError (ValueError)       text, None, objects or ragged lists where there have to be numbers
    ├── UnhashableError (TypeError)            a tensor in a set, or as a key of a dict
    ├── FunctionError (ValueError)             a function that cannot be differentiated, such as one that returns None
    ├── CustomGradientError (ValueError)       a function for custom_gradient that breaks its contract
    │   └── VariablesKeywordError (TypeError)  its gradient does not take the variables that the function reads
    ├── UnsupportedArgumentError (TypeError)   an argument that a NumPy function has, but no derivative rule
    ├── ImmutableError (TypeError)             writing into a tensor
    │   └── ImmutableVariableError (RuntimeError)   ``v += 1`` on a Variable
    ├── NoDerivativeError (LookupError)        a NumPy function without a derivative rule
    ├── GradientError (AssertionError)         a derivative that a difference quotient contradicts
    └── RuleError (RuntimeError)               a derivative rule that returned something impossible

Each also derives from the built-in exception which TensorFlow, or NumPy, raises in its place.
"""


class TapeError(Exception):
    """The root of every error that tapemagic raises on purpose."""


class ConsumedTapeError(TapeError, RuntimeError):
    """A non-persistent tape was asked for a second set of gradients."""


class NotRecordingError(TapeError, RuntimeError):
    """A tape was asked for a gradient or a pause that was never entered, or for a pause when it was used up."""


class TapeStateError(TapeError, ValueError):
    """The tape is recording where it must not be, or is not where it must."""


class OptionError(TapeError, ValueError):
    """An option was given a value that it does not know."""


class ShapeError(TapeError, ValueError):
    """Two arrays have shapes that do not match."""


class RankError(ShapeError, TypeError):
    """An array of several numbers stands where one number has to, or the other way round."""


class DtypeError(TapeError, TypeError):
    """A dtype that no tensor can have, or into which a value does not fit."""


class NotATensorError(TapeError, TypeError):
    """Something that is no tensor stands where a tensor has to."""


class NotWatchableError(NotATensorError, ValueError):
    """Something that is no tensor was given to ``watch``."""


class NotNumbersError(NotATensorError, ValueError):
    """Text, None, an object or lists of different lengths stand where numbers have to."""


class UnhashableError(TapeError, TypeError):
    """A tensor was put into a set, or made a key of a dict."""


class FunctionError(TapeError, ValueError):
    """A function that was to be differentiated returned nothing, or was called in a way that leaves no gradient."""


class CustomGradientError(TapeError, ValueError):
    """A function that was given to ``custom_gradient`` returned something else than it has to."""


class VariablesKeywordError(CustomGradientError, TypeError):
    """A function for ``custom_gradient`` reads variables, and its gradient does not take them."""


class UnsupportedArgumentError(TapeError, TypeError):
    """A NumPy function was called with an argument for which its derivative rule has no answer."""


class ImmutableError(TapeError, TypeError):
    """Something tried to write into a tensor."""


class ImmutableVariableError(ImmutableError, RuntimeError):
    """An in-place operator such as ``v += 1`` was used on a Variable."""


class NoDerivativeError(TapeError, LookupError):
    """A watched tensor met a NumPy function that has no derivative rule."""


class GradientError(TapeError, AssertionError):
    """A derivative by the tape differs from the difference quotient."""


class RuleError(TapeError, RuntimeError):
    """A derivative rule returned something that cannot be a gradient of its argument."""
