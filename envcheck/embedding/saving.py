"""Embed after a model was saved: for what saves models while they train.

    from envcheck.embedding.saving import Embedder

    embedder = Embedder(envcheck.capture(role="train"))
    embedder.after_save("checkpoints/epoch-3.keras")

A program that saves again and again writes a new file each time, and what was embedded in the old
one is gone. Call `after_save` with the path once the file is complete. It works on the file alone:
it saves and loads no model, so a wrapper around the functions that save is not entered again. The
content digest of the model stays; it costs one copy of the file. CPython 3.9, standard library.
"""

from __future__ import annotations

import os
from typing import Union

from envcheck.embedding.carriers import embed
from envcheck.errors import EnvcheckError
from envcheck.fingerprint.document import Fingerprint
from envcheck.records import record

__all__ = ["Embedder", "Saved"]

PathLike = Union[str, "os.PathLike[str]"]


@record
class Saved:
    """Where the fingerprint of a saved model lies, or why there is none."""

    place: str = ""
    problem: str = ""


class Embedder:
    """Puts one fingerprint into every model that is saved; `saved` keeps what became of each."""

    def __init__(self, fingerprint: Fingerprint) -> None:
        self._fingerprint = fingerprint
        self.saved: dict[str, Saved] = {}
        """By path; a later save of the same path replaces the earlier one."""

    def after_save(self, path: PathLike) -> Saved:
        """Embed into the model at `path`; return where the fingerprint lies, or the problem.

        It lies inside the file where the format allows, else in `PATH.envcheck.json`. Training
        goes on whatever happens: nothing is raised for a path that is elsewhere (`gs://…`), was
        not written, or cannot be written to.
        """
        text = os.fspath(path)
        try:
            found = Saved(place=embed(text, self._fingerprint))
        except EnvcheckError as problem:
            found = Saved(problem=str(problem).partition("\n")[0])
        except (OSError, ValueError) as problem:  # a path with a null character, say
            found = Saved(problem=f"{text}: {problem}")
        self.saved[text] = found
        return found
