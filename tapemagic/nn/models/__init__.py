"""Models: layers put together."""

from tapemagic.nn.models.model import Model as Model
from tapemagic.nn.models.model import clone_model as clone_model
from tapemagic.nn.models.sequential import Sequential as Sequential
