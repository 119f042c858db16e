"""The evaluation table of a recording: values forward, adjoints in reverse, with their formulas."""
