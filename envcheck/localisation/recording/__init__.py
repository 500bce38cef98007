"""What runs inside the training process: it watches, and changes nothing."""
