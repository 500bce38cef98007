"""The Python interpreter that a fingerprint speaks of: the running one, or one in an image.

CPython 3.9, standard library. What finds interpreters in images is `envcheck.probing.images`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from envcheck.records import record

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = ["Interpreter", "find_interpreter", "interpreter_at", "live_interpreter"]


@record
class Interpreter:
    """What is known of an interpreter; None is unknown.

    `path` lists the folders that are searched for distributions, in order, as seen inside the
    host's root. `home` is the folder that holds the standard library, or the package folders of
    a virtual environment. `kind` is venv, conda or system. `extras` counts the folders of the
    path beyond the standard library and the package folders.
    """

    version: str | None
    implementation: str | None
    cache_tag: str | None
    ext_suffix: str | None
    path: tuple[str, ...]
    home: str = ""
    running: bool = False
    problem: str = ""
    kind: str | None = None
    extras: int | None = None


def live_interpreter(entries: Sequence[str] | None = None) -> Interpreter:
    """Return the running interpreter.

    `entries` is the import path without what is there only because of how this process was
    started; by default `sys.path` with the script's own folder left out.
    """
    import importlib.machinery

    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    path = _search_path() if entries is None else list(dict.fromkeys(entries))
    return Interpreter(
        version=_live_version(),
        implementation=sys.implementation.name,
        cache_tag=sys.implementation.cache_tag,
        ext_suffix=suffixes[0] if suffixes else None,
        path=tuple(path),
        home=os.path.dirname(os.__file__ or ""),
        running=True,
        kind=_live_kind(),
        extras=_count_extras(path),
    )


def _live_version() -> str:
    info = sys.version_info
    marks = {"alpha": "a", "beta": "b", "candidate": "rc"}
    mark = marks.get(info.releaselevel, "")
    return f"{info.major}.{info.minor}.{info.micro}" + (f"{mark}{info.serial}" if mark else "")


def _live_kind() -> str:
    if sys.prefix != sys.base_prefix:
        return "venv"
    return "conda" if os.path.isdir(os.path.join(sys.prefix, "conda-meta")) else "system"


def _search_path() -> list[str]:
    """Return the folders of `sys.path`, without the script's own folder and without repeats."""
    start = 1 if sys.path and _is_script_entry(sys.path[0]) else 0
    return list(dict.fromkeys(entry or os.getcwd() for entry in sys.path[start:]))


def _is_script_entry(entry: str) -> bool:
    """Return whether the first path entry is there only because of how we were started.

    That is the current folder for `-c` and `-m`, the folder of a script, and the archive or
    folder that is itself run.
    """
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        return _is_run_itself(entry)
    if entry in ("", os.getcwd()):
        return True
    script = sys.argv[0] if sys.argv else ""
    if not script:
        return False
    folder = os.path.dirname(os.path.realpath(script))
    return os.path.realpath(entry) == folder or _is_run_itself(entry)


def _is_run_itself(entry: str) -> bool:
    """Return whether `python ENTRY` is how we were started (a zipapp, or a folder)."""
    script = sys.argv[0] if sys.argv else ""
    return bool(script) and os.path.realpath(entry) == os.path.realpath(script)


def _count_extras(path: Sequence[str]) -> int:
    """Return how many existing entries are neither standard library nor package folders."""
    home = os.path.dirname(os.__file__ or "")
    usual = {home, os.path.join(home, "lib-dynload"), sys.prefix, sys.base_prefix}
    site = sys.modules.get("site")
    if site is not None:
        usual.update(getattr(site, "getsitepackages", list)())
        usual.add(getattr(site, "USER_SITE", None) or "")
    archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    return sum(
        1
        for entry in path
        if entry not in usual
        and os.path.basename(entry) not in (archive, "lib-dynload", "DLLs")
        and os.path.exists(entry)
    )


def find_interpreter(host: Host) -> Interpreter:
    """Return the interpreter found by its files below the host's root, nothing being run."""
    from envcheck.probing.images import find

    return find(host)


def interpreter_at(host: Host, executable: str) -> Interpreter:
    """Return the interpreter whose executable is at that path inside the host's root."""
    from envcheck.probing.images import at

    return at(host, executable)
