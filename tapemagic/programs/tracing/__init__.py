"""Tracing: a call of a function whose NumPy calls are recorded as a program."""
