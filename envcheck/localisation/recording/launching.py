"""Run a training script as `python script.py` would, with the recorder waiting for Keras.

This is the first thing that the child process does. Until the script imports Keras nothing of
the recorder is loaded: modules of the standard library that were imported here would hide
those of the same name beside the script.
"""

from __future__ import annotations

import atexit
import builtins
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.importing import KerasWatch
from envcheck.localisation.recording.sites import starting_folder

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["BOOTSTRAP", "launch"]

BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from envcheck.localisation.recording.launching import launch; launch()"
)
"""What `python -c` runs in the child: FOLDER of the package, LOG, SCRIPT, then its arguments."""

_Module: Any = type(sys)


def launch() -> None:
    """Become the script: its path, arguments, `__main__`, exceptions and exit code."""
    starting_folder()
    log, script, *arguments = sys.argv[1:]
    path = os.path.abspath(script)
    sys.path.pop(0)  # where the package lies
    _set_path(path)
    sys.argv[:] = [script, *arguments]
    sys.orig_argv[:] = [*_before_bootstrap(sys.orig_argv), script, *arguments]
    watch = KerasWatch(log, script, time.time())
    atexit.register(watch.finish)  # the first to be registered is the last to run
    watch.install()
    module = _fresh_main(path)
    try:
        with open(path, "rb") as stream:
            source = stream.read()
        exec(compile(source, path, "exec", dont_inherit=True), vars(module))  # noqa: S102
    except BaseException as problem:
        watch.ended_by(problem)
        _hide_own_frames()
        raise
    finally:
        watch.script_ended()


def _set_path(path: str) -> None:
    """Put the folder of the script where `python script.py` puts it, if it puts it anywhere."""
    if getattr(sys.flags, "safe_path", False):
        return
    sys.path[0] = os.path.dirname(os.path.realpath(path))


def _before_bootstrap(words: list[str]) -> list[str]:
    """Return the interpreter and its options."""
    return words[: words.index("-c")] if "-c" in words else words[:1]


def _fresh_main(path: str) -> Any:
    """Return a new `__main__` with exactly the names that Python gives to that of a script."""
    old = vars(sys.modules["__main__"])
    module = _Module("__main__")
    for name in list(vars(module)):
        if name not in old:
            delattr(module, name)
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
    values = {
        "__builtins__": builtins, "__file__": path, "__cached__": None, "__spec__": None,
        "__package__": None, "__loader__": loader("__main__", path),
    }  # fmt: skip
    if "__annotations__" in old:
        values["__annotations__"] = {}
    vars(module).update(values)
    sys.modules["__main__"] = module
    return module


def _hide_own_frames() -> None:
    """Let the hook that prints an uncaught exception see the script's frames alone."""
    hook = sys.excepthook

    def tidy(kind: Any, value: BaseException, _: TracebackType | None) -> None:
        from envcheck.localisation.recording.tracebacks import without_own_frames

        hook(kind, value, without_own_frames(value))

    sys.excepthook = tidy
