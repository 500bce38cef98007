"""Pairs of real environments with what was measured in them."""
