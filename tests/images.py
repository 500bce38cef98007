"""Lay out unpacked images below a folder, for tests of `--root`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.probing.host import Host
from tests.wheels import install

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Image:
    """An image-shaped tree; paths are given as seen inside it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, inside: str) -> Path:
        """Return where a path of the image lies, its parent folder made."""
        place = self.root / inside.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def write(self, inside: str, text: str = "") -> None:
        """Write a file."""
        self.path(inside).write_text(text, encoding="utf-8")

    def link(self, inside: str, target: str) -> None:
        """Make a symbolic link, as it stands."""
        self.path(inside).symlink_to(target)

    def package(self, folder: str, name: str, version: str = "1.0") -> None:
        """Install a distribution."""
        install(self.path(folder), name, version, files={f"{name}/__init__.py": ""})

    def python(self, prefix: str, minor: int, suffix: str = "x86_64-linux-gnu") -> None:
        """Lay out an interpreter's files."""
        home = f"{prefix}/lib/python3.{minor}"
        self.write(f"{home}/os.py")
        self.write(f"{home}/lib-dynload/_x.cpython-3{minor}-{suffix}.so")
        self.write(f"{prefix}/bin/python3.{minor}", "\x7fELF")
        self.link(f"{prefix}/bin/python3", f"python3.{minor}")

    def venv(self, prefix: str, minor: int, home: str, *, system: bool = False) -> None:
        """Lay out a virtual environment made from the interpreter in `home`."""
        self.write(
            f"{prefix}/pyvenv.cfg",
            f"home = {home}\ninclude-system-site-packages = {str(system).lower()}\n"
            f"version = 3.{minor}.0\n",
        )
        self.path(f"{prefix}/lib/python3.{minor}/site-packages/x").parent.mkdir(exist_ok=True)
        self.link(f"{prefix}/bin/python", f"{home}/python3.{minor}")
        self.link(f"{prefix}/bin/python3", "python")

    def host(self, environ: Mapping[str, str] | None = None) -> Host:
        """Return the image as probes see it."""
        return Host(str(self.root), live=False, environ=environ)
