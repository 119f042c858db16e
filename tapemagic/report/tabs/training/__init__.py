"""The loss and the gradients over the steps of a loop."""
