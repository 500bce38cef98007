"""Goldens: recorded inputs and outputs of a model, replayed on another machine or runtime."""
