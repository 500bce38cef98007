"""Runs inside another interpreter: capture it from within and answer on standard output.

`envcheck.probing.other` starts that interpreter with BOOT as its `-c` text and sends it, on
standard input, one JSON object with the source text of our modules, this one among them. So
nothing of ours is put on its import path, nothing is installed or written, and it makes no
difference whether we run from a folder or an archive. CPython 3.9, standard library.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType, ModuleType

__all__ = ["BOOT", "PACKAGE_FOLDER", "Sources", "run"]

BOOT = """\
import sys
mark = sys.argv[1]
if sys.version_info < (3, 9):
    sys.stdout.write("\\n" + mark + '{"too_old": "%d.%d.%d"}' % sys.version_info[:3] + mark + "\\n")
else:
    entries = sys.path[1:] if sys.path[:1] == [""] else sys.path[:]
    sys.path[:] = entries
    import json
    job = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    names = {"__name__": "envcheck.probing.runner"}
    exec(compile(job["sources"]["envcheck.probing.runner"], "<envcheck runner>", "exec"), names)
    names["run"](job, mark, entries)
"""
"""What the other interpreter starts with; it must parse on every Python, also on 2.7."""
PACKAGE_FOLDER = "<envcheck>"


class Sources:
    """Imports envcheck from source texts in memory, and lists them for `pkgutil`.

    It is finder, loader and the path entry of every package in it.
    """

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def _packages(self) -> set[str]:
        return {name.rpartition(".")[0] for name in self._texts}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of one of our modules, or None for any other."""
        del path, target
        if name not in self._texts:
            return None
        place = f"{PACKAGE_FOLDER}/{name.replace('.', '/')}"
        spec = ModuleSpec(name, self, origin=place, is_package=name in self._packages())  # type: ignore[arg-type]
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(place)
            sys.path_importer_cache[place] = Listing(self._texts, name)
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the making of the module object to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the text of a module."""
        code: CodeType = compile(
            self._texts[module.__name__],
            f"{PACKAGE_FOLDER}/{module.__name__.replace('.', '/')}.py",
            "exec",
            dont_inherit=True,
        )
        exec(code, module.__dict__)  # noqa: S102  # our own source text, sent by our own process


class Listing:
    """What `pkgutil.iter_modules` asks for the modules of one package."""

    def __init__(self, texts: dict[str, str], package: str) -> None:
        self._names = texts
        self._package = package

    def find_spec(self, name: str, target: ModuleType | None = None) -> None:
        """Find nothing: modules are found by `Sources`."""

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """Yield the names of the modules, none of which is a package."""
        for name in sorted(self._names):
            package, _, module = name.rpartition(".")
            if package == self._package:
                yield prefix + module, False


def run(job: dict[str, Any], mark: str, entries: Sequence[str]) -> None:
    """Capture this interpreter and write the facts, between marks, to standard output."""
    sys.meta_path.insert(0, Sources(job["sources"]))
    from envcheck.probing.host import Host
    from envcheck.probing.interpreter import live_interpreter
    from envcheck.probing.run import run_probes

    host = Host(
        interpreter=live_interpreter(entries),
        files=job["files"],
        models=job["models"],
        deep=job["deep"],
    )
    facts = {key: fact.to_json() for key, fact in run_probes(host).items()}
    answer = json.dumps({"facts": facts}, sort_keys=True)
    _write(f"\n{mark}{answer}{mark}\n".encode("ascii"))


def _write(data: bytes) -> None:
    """Write to the real standard output, which start-up code may have replaced in `sys`."""
    sys.stdout.flush()
    while data:
        data = data[os.write(1, data) :]
