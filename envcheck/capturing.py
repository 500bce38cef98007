"""`envcheck.capture()`: look at one environment. CPython 3.9, standard library."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Union

from envcheck import __version__
from envcheck.errors import InputError, UsageError
from envcheck.fingerprint.document import ROLES, Fingerprint

if TYPE_CHECKING:
    from envcheck.facts import Facts

__all__ = ["capture"]

PathLike = Union[str, "os.PathLike[str]"]


def capture(
    *,
    role: str | None = None,
    files: Iterable[PathLike] = (),
    models: Iterable[PathLike] = (),
    python: PathLike | None = None,
    root: PathLike | None = None,
    deep: bool = False,
) -> Fingerprint:
    """Return the fingerprint of this interpreter and machine, or of another one.

    `role` is `train` or `deploy` and only labels the result. `files` and `models` are further
    files to record. `python` names another interpreter (CPython >= 3.9; nothing is installed
    into it), `root` the folder of an unpacked image, of which nothing is run. `deep` allows
    slower probes that start processes.

    Raises UsageError and InputError.
    """
    if role not in (None, *ROLES):
        raise UsageError(f"role {role!r} is neither train nor deploy")
    if python is not None and root is not None:
        raise UsageError(
            "python and root exclude each other",
            hint="an image is read from its files; no interpreter of it is run",
        )
    facts = _facts(
        [os.fspath(path) for path in files],
        [os.fspath(path) for path in models],
        python=None if python is None else os.fspath(python),
        root=None if root is None else os.fspath(root),
        deep=deep,
    )
    envelope = {
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "tool": f"envcheck {__version__}",
    }
    if role:
        envelope["role"] = role
    return Fingerprint(facts, dict(sorted(envelope.items())))


def _facts(
    files: list[str],
    models: list[str],
    *,
    python: str | None,
    root: str | None,
    deep: bool,
) -> Facts:
    if python is not None:
        from envcheck.probing.other import capture_other

        return capture_other(python, files=files, models=models, deep=deep)

    from envcheck.probing.host import Host
    from envcheck.probing.run import run_probes

    if root is not None and not os.path.isdir(root):
        raise InputError(
            "is no folder" if os.path.exists(root) else "does not exist",
            place=root,
            hint="--root takes the folder of an unpacked image, with bin, etc, usr in it",
        )
    return run_probes(Host(root or os.sep, deep=deep, files=files, models=models))
