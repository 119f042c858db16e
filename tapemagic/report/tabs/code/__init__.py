"""The Code tab."""
