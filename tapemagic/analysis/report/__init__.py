"""What a report shows, as frozen data."""
