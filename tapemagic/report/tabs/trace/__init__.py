"""The Trace tab: an evaluation table with values forward, adjoints in reverse, and their formulas."""
