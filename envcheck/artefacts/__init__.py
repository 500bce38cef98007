"""Read what a model file says about itself, with no framework and without loading the model.

One format per module. Each reads a hostile file in bounded memory and bounded time, executes
nothing, and raises `Unreadable` where the file cannot be what it says it is. CPython 3.9,
standard library.
"""
