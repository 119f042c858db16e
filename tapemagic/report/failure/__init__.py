"""The line at which a cell stopped, the operands on it, and what does not fit."""
