"""The rule files: reading, linting, compiling, loading.

    rulebook = load_compiled(path)             # the standard library alone
    rulebook.assert_into(base)
    inference = infer(base, rulebook.implications)

`compile_folder` turns `.n3` files into the data that `load_compiled` reads; it needs rdflib.
"""

from envcheck.rulebook.loading import Rule, Rulebook, load_compiled

__all__ = ["Rule", "Rulebook", "load_compiled"]
