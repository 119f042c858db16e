"""The faces of a report: each a module with a title, the text and the HTML of one part of the findings."""
