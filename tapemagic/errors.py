"""The exceptions that tapemagic raises, under one base class.

::

    TapeError
    ├── ConsumedTapeError (RuntimeError)       a second gradient of a non-persistent tape
    ├── NotRecordingError (RuntimeError)       a tape that was never entered, or a pause of a consumed one
    ├── TapeStateError (ValueError)            the tape is, or is not, recording just now
    ├── OptionError (ValueError)               a value that an option does not take
    ├── ShapeError (ValueError)                arrays whose shapes do not match
    │   └── RankError (TypeError)              an array in place of one number, or the other way round
    ├── DtypeError (TypeError)                 a dtype that tensors cannot have, or into which a value does not fit
    ├── NotATensorError (TypeError)            a target, source or output gradient that is no tensor
    │   ├── NotWatchableError (ValueError)     something that is no tensor, given to watch
    │   └── NotNumbersError (ValueError)       text, None, objects or ragged lists in place of numbers
    ├── UnhashableError (TypeError)            a tensor in a set, or as a key of a dict
    ├── FunctionError (ValueError)             a function that cannot be differentiated, such as one that returns None
    ├── CustomGradientError (ValueError)       a function for custom_gradient that breaks its contract
    │   └── VariablesKeywordError (TypeError)  its gradient function does not take the variables that it reads
    ├── NotComputedError (TypeError)            a use of a lazy value, a Dask array, that needs its numbers
    ├── UnsupportedArgumentError (TypeError)   an argument of a NumPy function that its derivative rule does not support
    ├── ImmutableError (TypeError)             writing into a tensor
    │   └── ImmutableVariableError (RuntimeError)   ``v += 1`` on a Variable
    ├── NoDerivativeError (LookupError)        a NumPy function without a derivative rule
    ├── GradientError (AssertionError)         a derivative that differs from the difference quotient
    ├── ModelError (ValueError)                a model that is not complete, not built or not compiled
    ├── WeightsError (ValueError)              weights of another model, or a file that holds none
    ├── NonFiniteError (ArithmeticError)       a loss or gradient in training that is nan or infinite
    ├── SourceError (ValueError)               a recording that cannot be written as a program
    ├── SaveError (OSError)                    a report that cannot be written to a file
    ├── DataFileError (ValueError)             a data file that is truncated, corrupt, or another than was asked for
    ├── MissingDataError (FileNotFoundError)   a data file that is not there
    ├── DownloadError (OSError)                a data file that cannot be downloaded
    └── RuleError (RuntimeError)               a derivative rule that returned a value that is no gradient

One warning is not an error:

::

    EagerWarning (UserWarning)                 a function under tapemagic.function that runs without a program

Each also derives from the built-in exception which TensorFlow, or NumPy, raises in its place.
"""


class TapeError(Exception):
    """The base class of all errors that tapemagic raises."""


class ConsumedTapeError(TapeError, RuntimeError):
    """A non-persistent tape was asked for a second set of gradients."""


class NotRecordingError(TapeError, RuntimeError):
    """A tape that was never entered was asked for a gradient or a pause, or a consumed tape for a pause."""


class TapeStateError(TapeError, ValueError):
    """The tape is recording where it must not, or is not recording where it must."""


class OptionError(TapeError, ValueError):
    """An option was given a value that it does not take."""


class ShapeError(TapeError, ValueError):
    """The shapes of two arrays do not match."""


class RankError(ShapeError, TypeError):
    """An array was given in place of one number, or one number in place of an array."""


class DtypeError(TapeError, TypeError):
    """A dtype is none that tensors can have, or a value does not fit into it."""


class NotATensorError(TapeError, TypeError):
    """Something that is no tensor was given in place of a tensor."""


class NotWatchableError(NotATensorError, ValueError):
    """Something that is no tensor was given to ``watch``."""


class NotNumbersError(NotATensorError, ValueError):
    """Text, None, an object or lists of different lengths were given in place of numbers."""


class UnhashableError(TapeError, TypeError):
    """A tensor was put into a set, or made a key of a dict."""


class FunctionError(TapeError, ValueError):
    """A function to be differentiated returned None, or was called in a way that has no gradient."""


class CustomGradientError(TapeError, ValueError):
    """A function given to ``custom_gradient`` did not return a value and a gradient function, or wrong gradients."""


class VariablesKeywordError(CustomGradientError, TypeError):
    """A function given to ``custom_gradient`` reads variables, but its gradient function does not take them."""


class NotComputedError(TapeError, TypeError):
    """Numbers are asked for of a tensor with a Dask array inside, which are not computed yet.

    Attributes
    ----------
    wanted_by : str
        The call or operator that needs them: ``"float()"``.
    """

    wanted_by = ""


class UnsupportedArgumentError(TapeError, TypeError):
    """A NumPy function was called with an argument that its derivative rule does not support.

    Attributes
    ----------
    wanted_by : str
        Of an error about a lazy value, the function that the message names.
    """

    wanted_by = ""


class ImmutableError(TapeError, TypeError):
    """A tensor cannot be written into."""


class ImmutableVariableError(ImmutableError, RuntimeError):
    """An in-place operator such as ``v += 1`` was used on a Variable."""


class NoDerivativeError(TapeError, LookupError):
    """A NumPy function without a derivative rule was called with a tensor that a tape tracks."""


class GradientError(TapeError, AssertionError):
    """A derivative by the tape differs from the difference quotient."""


class ModelError(TapeError, ValueError):
    """A model was put together wrongly, or used before it was built or compiled."""


class WeightsError(TapeError, ValueError):
    """Weights belong to another model, or a file holds none."""


class NonFiniteError(TapeError, ArithmeticError):
    """The loss of a step of training, or one of its gradients, is nan or infinite.

    Attributes
    ----------
    epoch, batch : int or None
        The step in which it arose, both numbers from 0 on; None outside of `fit`.
    row : int or None
        The place in the batch of an example that is not finite itself.
    """

    epoch: int | None = None
    batch: int | None = None
    row: int | None = None


class SourceError(TapeError, ValueError):
    """A recording that cannot be written as a program."""


class SaveError(TapeError, OSError):
    """A report cannot be written to a file."""


class DataFileError(TapeError, ValueError):
    """A data file is truncated or corrupt, or holds something else than was asked for."""


class MissingDataError(TapeError, FileNotFoundError):
    """A data file is not where it was looked for."""


class DownloadError(TapeError, OSError):
    """A data file cannot be downloaded, or another file came in its place."""


class RuleError(TapeError, RuntimeError):
    """A derivative rule returned a value that cannot be a gradient of its argument."""


class EagerWarning(UserWarning):
    """A function under `tapemagic.function` cannot be a program, and runs as it is written; the text says why."""
