"""Models: layers put together."""
