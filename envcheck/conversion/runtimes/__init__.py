"""The runtimes that a candidate may run under, behind one protocol.

A runtime is a module in this folder, or one named by an entry point of the group
`envcheck.runtimes`, with `NAME`, `SUFFIXES` and `open_candidate(path, settings)`.
"""
