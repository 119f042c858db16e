"""The tape: records operations, and differentiates what it recorded by a reverse sweep."""
