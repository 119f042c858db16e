"""The line at which a cell stopped, its operands, and why they don't fit together."""
