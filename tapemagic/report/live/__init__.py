"""The widget of a report, the data that it shows, and pages that work without a notebook."""
