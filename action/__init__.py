"""The GitHub Action: one check from inputs to outputs, with the standard library alone."""
