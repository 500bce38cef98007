"""Fingerprints that travel with a model: inside it where its format allows, else beside it.

One carrier per module, each with `read(path)` and `write(path, data)`; `carriers` chooses. What
is embedded changes no weight and no output, and the content digest of the model leaves it out.
"""
