"""The contents of a report on a recording, as frozen data."""
