"""Models in files, and registered classes and functions: ``tf.keras.saving``."""

from typing import Any

from tapemagic.nn.custom_objects import reading
from tapemagic.nn.saving import (
    CustomObjectScope,
    custom_object_scope,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    save_model,
    serialize_keras_object,
)
from tapemagic.nn.saving import deserialize_keras_object as _deserialize
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.models import load_model


def deserialize_keras_object(config: Any, custom_objects: Any = None, **unused: Any) -> Any:
    """Create the object that a config describes; see `nn.saving.deserialize_keras_object`.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> config = tf.keras.saving.serialize_keras_object(tf.keras.layers.Dense(3, name="hidden"))
    >>> type(tf.keras.saving.deserialize_keras_object(config)) is tf.keras.layers.Dense
    True
    """
    with reading("tapemagic.tf.keras"):
        return _deserialize(config, custom_objects, **unused)


__all__ = [
    "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "get_registered_name", "get_registered_object", "load_model", "register_keras_serializable",
    "save_model", "serialize_keras_object",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
