"""The tape: records operations, and differentiates them by a reverse sweep."""
