"""Models: layers put together."""

from tapemagic.nn.models.model import Model as Model
from tapemagic.nn.models.model import clone_model as clone_model
from tapemagic.nn.models.sequential import Sequential as Sequential
from tapemagic.nn.saving.keras_file import load_model as load_model
from tapemagic.nn.saving.keras_file import model_from_json as model_from_json
from tapemagic.nn.saving.keras_file import save_model as save_model
