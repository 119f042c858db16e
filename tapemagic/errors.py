"""The exceptions that tapemagic raises, under one base class.

::

    TapeError
    ├── ConsumedTapeError (RuntimeError)       a second gradient of a non-persistent tape ├── NotRecordingError
    (RuntimeError)       a tape that was never entered, or a pause of a consumed tape ├── TapeStateError (ValueError)
    the tape is recording and mustn't be, or isn't recording and must be ├── OptionError (ValueError)               an
    invalid value of an option ├── ShapeError (ValueError)                arrays whose shapes don't match │   └──
    RankError (TypeError)              an array instead of a single number, or vice versa ├── DtypeError (TypeError)
    a dtype that tensors can't have, or into which a value doesn't fit ├── NotATensorError (TypeError)            a
    target, source or output gradient that isn't a tensor │   ├── NotWatchableError (ValueError)     watch() with an
    argument that isn't a tensor │   └── NotNumbersError (ValueError)       text, None, objects or ragged lists
    instead of numbers ├── UnhashableError (TypeError)            a tensor in a set, or as a key of a dict ├──
    FunctionError (ValueError)             a function that can't be differentiated, such as one that returns None ├──
    CustomGradientError (ValueError)       a function for custom_gradient that breaks its contract │   └──
    VariablesKeywordError (TypeError)  its gradient function doesn't accept the variables that it reads ├──
    NotComputedError (TypeError)           a use of a lazy value, a Dask array, that needs its numbers ├──
    UnsupportedArgumentError (TypeError)   an argument of a NumPy function that its derivative rule doesn't support
    ├── ImmutableError (TypeError)             writing into a tensor │   └── ImmutableVariableError (RuntimeError)
    ``v += 1`` on a Variable ├── NoDerivativeError (LookupError)        a NumPy function without a derivative rule ├──
    GradientError (AssertionError)         a derivative that differs from finite differences ├── ModelError
    (ValueError)                a model that isn't complete, not built or not compiled ├── WeightsError (ValueError)
    weights of another model, or a file without weights ├── NonFiniteError (ArithmeticError)       a loss or gradient
    in training that is nan or infinite ├── SourceError (ValueError)               a recording that can't be written
    as a program ├── SaveError (OSError)                    a report that can't be written to a file ├── DataFileError
    (ValueError)             a data file that is truncated, corrupt, or not the requested one ├── MissingDataError
    (FileNotFoundError)   a data file that doesn't exist ├── DownloadError (OSError)                a data file that
    can't be downloaded └── RuleError (RuntimeError)               a derivative rule whose result can't be a gradient

One class is a warning, not an error:

::

    EagerWarning (UserWarning)                 a function under tapemagic.function that runs without a program

Each error also derives from the built-in exception that TensorFlow or NumPy raises in the same situation.
"""


class TapeError(Exception):
    """The base class of all errors that tapemagic raises."""


class ConsumedTapeError(TapeError, RuntimeError):
    """A gradient needs records that a tape has let go: after its only set of gradients, or for lack of memory."""


class NotRecordingError(TapeError, RuntimeError):
    """A gradient or a pause was requested from a tape that was never entered, or a pause from a consumed tape."""


class TapeStateError(TapeError, ValueError):
    """The tape is recording and mustn't be, or isn't recording and must be."""


class OptionError(TapeError, ValueError):
    """An option received an invalid value."""


class ShapeError(TapeError, ValueError):
    """The shapes of two arrays don't match."""


class RankError(ShapeError, TypeError):
    """An array was passed instead of a single number, or a single number instead of an array."""


class DtypeError(TapeError, TypeError):
    """A dtype can't be the dtype of a tensor, or a value doesn't fit into it."""


class NotATensorError(TapeError, TypeError):
    """An argument that must be a tensor isn't a tensor."""


class NotWatchableError(NotATensorError, ValueError):
    """An argument of ``watch`` isn't a tensor."""


class NotNumbersError(NotATensorError, ValueError):
    """Text, None, an object or lists of different lengths were passed instead of numbers."""


class UnhashableError(TapeError, TypeError):
    """A tensor was put into a set, or used as a key of a dict."""


class FunctionError(TapeError, ValueError):
    """A function to differentiate returned None, or was called in a way that has no gradient."""


class CustomGradientError(TapeError, ValueError):
    """A function for ``custom_gradient`` didn't return a value and a gradient function, or returned wrong gradients."""


class VariablesKeywordError(CustomGradientError, TypeError):
    """A function for ``custom_gradient`` reads variables, but its gradient function doesn't accept them."""


class NotComputedError(TapeError, TypeError):
    """A use of a lazy tensor, which contains a Dask array, needs its numbers, which aren't computed yet.

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
        For an error about a lazy value, the function that the message names.
    """

    wanted_by = ""


class ImmutableError(TapeError, TypeError):
    """A call would write into a tensor."""


class ImmutableVariableError(ImmutableError, RuntimeError):
    """An in-place operator such as ``v += 1`` was used on a Variable."""


class NoDerivativeError(TapeError, LookupError):
    """A NumPy function without a derivative rule was called with a tensor that a tape tracks."""


class GradientError(TapeError, AssertionError):
    """A derivative by the tape differs from finite differences."""


class ModelError(TapeError, ValueError):
    """A model was constructed wrongly, or used before it was built or compiled."""


class WeightsError(TapeError, ValueError):
    """The weights belong to another model, or a file contains no weights."""


class NonFiniteError(TapeError, ArithmeticError):
    """The loss of a training step, or one of its gradients, is nan or infinite.

    Attributes
    ----------
    epoch, batch : int or None
        The step, both numbers counted from 0, or None outside of `fit`.
    row : int or None
        The index in the batch of an example that is nan or infinite itself.
    """

    epoch: int | None = None
    batch: int | None = None
    row: int | None = None


class SourceError(TapeError, ValueError):
    """A recording can't be written as a program."""


class SaveError(TapeError, OSError):
    """A report can't be written to a file."""


class DataFileError(TapeError, ValueError):
    """A data file is truncated or corrupt, or isn't the requested file."""


class MissingDataError(TapeError, FileNotFoundError):
    """A data file doesn't exist at the expected path."""


class DownloadError(TapeError, OSError):
    """A data file can't be downloaded, or the server sent another file."""


class RuleError(TapeError, RuntimeError):
    """A derivative rule returned a value that can't be a gradient of its argument."""


class EagerWarning(UserWarning):
    """A function under `tapemagic.function` can't be a program, so it runs as ordinary Python; the text says why."""
