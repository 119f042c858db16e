"""Models in files: Keras's format `.keras`, configs, and registered classes and functions."""

from tapemagic.nn.custom_objects import CustomObjectScope as CustomObjectScope
from tapemagic.nn.custom_objects import custom_object_scope as custom_object_scope
from tapemagic.nn.custom_objects import get_custom_objects as get_custom_objects
from tapemagic.nn.custom_objects import get_registered_name as get_registered_name
from tapemagic.nn.custom_objects import get_registered_object as get_registered_object
from tapemagic.nn.custom_objects import register_keras_serializable as register_keras_serializable
from tapemagic.nn.object_configs import deserialize_keras_object as deserialize_keras_object
from tapemagic.nn.object_configs import serialize_keras_object as serialize_keras_object
from tapemagic.nn.saving.keras_file import load_model as load_model
from tapemagic.nn.saving.keras_file import save_model as save_model

__all__ = [
    "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "get_registered_name", "get_registered_object", "load_model", "register_keras_serializable",
    "save_model", "serialize_keras_object",
]  # fmt: skip
