"""Functions that make arrays out of numbers: linspace, full, vander and their kin."""
