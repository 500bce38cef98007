"""What a scan of pickles found, and the facts it makes."""

from __future__ import annotations

from typing import Any

from envcheck.artefacts.pickle_names import CODE, STANDARD, is_dangerous, is_sensitive_attribute
from envcheck.artefacts.pickle_tokens import Global, is_from
from envcheck.artefacts.reading import Unreadable, clip

__all__ = ["Findings"]

_MOST_GLOBALS = 20_000
_MOST_VERSIONS = 100
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg", "cPickle": "pickle",
            "exceptions": "builtins"}  # fmt: skip
"""Modules of Python 2, which protocols below 3 name; an unpickler translates them."""


class Findings:
    """Names gathered over one or more pickles."""

    def __init__(self) -> None:
        self.protocol = 0
        self.unresolved = 0
        self.truncated_scan = ""
        self._globals: set[Global] = set()
        self._dangerous: set[str] = set()
        self._versions: set[str] = set()
        self._code = False

    def add_global(self, module: str, name: str) -> Global:
        """Note a reference and return its token."""
        if self.protocol < 3:
            module = _RENAMED.get(module, module)
        token = Global(module, name)
        if token not in self._globals:
            if len(self._globals) >= _MOST_GLOBALS:
                raise Unreadable(f"refers to more than {_MOST_GLOBALS} names")
            self._globals.add(token)
            if is_dangerous(module, name):
                self._dangerous.add(clip(f"{module}.{name}"))
        return token

    def add_pair(self, key: str, value: Any) -> None:
        """Note a key with its value, as an object's state has them."""
        wanted = key == "_sklearn_version" and isinstance(value, str)
        if wanted and len(self._versions) < _MOST_VERSIONS:
            self._versions.add(clip(value))

    def add_call(self, function: Global, args: Any) -> None:
        """Note a call whose arguments decide what it means."""
        known = isinstance(args, tuple) and len(args) > 1 and isinstance(args[1], str)
        if is_from(function, "builtins", "getattr") and not (
            known and not is_sensitive_attribute(args[1])
        ):
            self._dangerous.add("builtins.getattr")
        kinds = ("_load_type", "_builtin_type")
        if function.name in kinds and isinstance(args, tuple):
            self._code = self._code or args[:1] in (("CodeType",), ("FunctionType",))

    @property
    def modules(self) -> set[str]:
        """Every module that is referred to."""
        return {token.module for token in self._globals}

    def holds_code(self) -> bool:
        """Return whether Python code is stored, as cloudpickle, dill and marshal do."""
        return self._code or any(
            (token.module.partition(".")[0], token.name) in CODE for token in self._globals
        )

    def imports(self) -> set[str]:
        """Return the top-level modules outside the standard library that loading imports."""
        tops = {module.partition(".")[0] for module in self.modules}
        return {clip(top) for top in tops - STANDARD if top}

    def facts(self) -> dict[str, Any]:
        """Return the facts."""
        out: dict[str, Any] = {
            "protocol": self.protocol,
            "modules": sorted({clip(module) for module in self.modules}),
            "globals": sorted({clip(f"{item.module}.{item.name}") for item in self._globals}),
            "sklearn_versions": sorted(self._versions),
            "numpy_generator": any(is_generator(token) for token in self._globals),
            "holds_code": self.holds_code(),
            "dangerous": sorted(self._dangerous),
            "unresolved_globals": self.unresolved,
            "imports": sorted(self.imports()),
        }
        if self.truncated_scan:
            names = ("modules", "globals", "dangerous", "holds_code", "imports")
            out["unread"] = [{"field": name, "reason": self.truncated_scan} for name in names]
        return out


def is_generator(token: Global) -> bool:
    """Return whether a global rebuilds a random generator of numpy, or its bit generator."""
    return token.module.startswith("numpy.random") and (
        token.name.endswith("_ctor") or "Generator" in token.name
    )
