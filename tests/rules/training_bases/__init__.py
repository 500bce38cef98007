"""Small training programs whose logs the cases of the training rules start from."""
