"""Wait until the program imports Keras, and switch the recorder on then.

Imports nothing but what every Python has loaded when it starts.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.localisation.recording.session import Session

__all__ = ["KerasWatch", "script_name"]


class KerasWatch:
    """A finder of modules that finds nothing itself and notes when Keras is imported."""

    def __init__(self, log: str, script: str, begun: float) -> None:
        self._log = log
        self._script = script_name(script)
        self._begun = begun
        self._process = os.getpid()
        self._session: Session | None = None
        self._failure: str | None = None
        self._ended_by: BaseException | None = None

    def install(self) -> None:
        """Stand first among the finders, or hook Keras at once where it is loaded already."""
        if "keras" in sys.modules:
            self._switch_on()
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of Keras with a loader that switches the recorder on, else None."""
        if name != "keras":
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self._switch_on)  # type: ignore[assignment]
                return spec
        sys.meta_path.insert(0, self)
        return None

    def _switch_on(self) -> None:
        try:
            from envcheck.localisation.recording.hooks import install

            install(self._opened())
        except Exception as problem:  # noqa: BLE001 - a recorder never breaks what it watches
            self._failure = f"{type(problem).__name__}: {problem}"

    def _opened(self) -> Session:
        if self._session is None:
            from envcheck.localisation.recording.session import Outlet, Session

            self._session = Session(self._script, self._begun)
            self._session.outlets.append(Outlet(self._log, everything=True))
        return self._session

    def ended_by(self, problem: BaseException) -> None:
        """Note the exception that leaves the script."""
        self._ended_by = problem

    def script_ended(self) -> None:
        """Close what is open; threads of the program may still train after this."""
        self._guarded(final=False)

    def finish(self) -> None:
        """Write the log for the last time, when the interpreter ends."""
        self._guarded(final=True)

    def _guarded(self, *, final: bool) -> None:
        if os.getpid() != self._process:  # a fork of the program is no run of its own
            return
        try:
            session = self._opened()
            if self._failure is not None:
                session.note_reason(f"the recorder could not be set up: {self._failure}")
            session.close(self._ended_by, final=final)
        except Exception:  # noqa: BLE001, S110 - the parent tells that there is no log
            pass


def script_name(script: str) -> str:
    """Return the script relative to the working folder, or its name alone from elsewhere."""
    relative = os.path.relpath(script)
    return os.path.basename(script) if relative.startswith(os.pardir) else relative


class _Loader:
    """A loader that runs the module as another loader does, and something after it."""

    def __init__(self, loader: Any, after: Any) -> None:
        self._loader = loader
        self._after = after

    def create_module(self, spec: Any) -> Any:
        """Create the module as the loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Run the module, leave the true loader behind, and do what comes after."""
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._after()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
