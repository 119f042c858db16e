"""Models: ``tf.keras.models``."""

from typing import Any

from tapemagic import nn
from tapemagic.nn.saving.keras_file import load_model_for, model_from_json_for
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.adapted import Model


class Sequential(Model, nn.Sequential):  # noqa: D101 (that of tapemagic.nn)
    __doc__ = nn.Sequential.__doc__


clone_model = nn.models.clone_model
load_model = load_model_for("tapemagic.tf.keras")
save_model = nn.models.save_model


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """Create a model from the text that `Model.to_json` returned, with new weights; see `nn.models.model_from_json`."""
    return model_from_json_for("tapemagic.tf.keras", json_string, custom_objects)


__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]
__getattr__ = missing(__name__, __all__)
