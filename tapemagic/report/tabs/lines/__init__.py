"""The Lines tab."""
