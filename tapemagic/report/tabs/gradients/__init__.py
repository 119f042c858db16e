"""The derivatives in a report: values, reasons, full matrices, and checks by finite differences."""
