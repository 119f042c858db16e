"""The derivatives in a report: values, reasons, full matrices, and comparisons with difference quotients."""
