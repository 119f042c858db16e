"""The verdict of a report: its results and problems in sentences."""
