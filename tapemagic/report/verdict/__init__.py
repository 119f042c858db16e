"""The sentences above a report: results, and whatever is wrong with them."""
