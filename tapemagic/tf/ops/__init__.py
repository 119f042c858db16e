"""The functions, by kind; modules such as `tapemagic.tf.math` list them under TensorFlow's names."""
