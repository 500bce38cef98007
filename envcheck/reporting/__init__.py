"""Reports for people and machines: one file per format, `as_NAME.py`, found by its name."""
