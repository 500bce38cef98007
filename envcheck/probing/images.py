"""Find the Python interpreters in an unpacked image by their files, running nothing.

CPython 3.9, standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envcheck.probing.interpreter import Interpreter

if TYPE_CHECKING:
    from envcheck.probing.host import Host

__all__ = ["at", "find", "installations"]

_PREFIXES = ("/usr/local", "/usr", "/opt/venv", "/venv", "/opt/conda", "/opt/python")
_SUPERUSER = "/root"
"""The home of an image's superuser, where many images keep their interpreters."""
_PARENTS = (
    "/opt", "/srv", "/app", "/code", "/workspace", "/home", "/usr/src", "/var", _SUPERUSER,
    "/opt/conda/envs", "/opt/miniconda3/envs", f"{_SUPERUSER}/miniconda3/envs",
    f"{_SUPERUSER}/.pyenv/versions", f"{_SUPERUSER}/.local/share/uv/python", "/",
)  # fmt: skip
_VENV_NAMES = ("", "/.venv", "/venv", "/env")
_MOST_FOLDERS = 400
_LIBS = ("lib", "lib64")
_HOME_NAME = re.compile(r"python3\.([0-9]{1,3})t?")
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_VERSION_LINE = re.compile(r'^#define\s+PY_VERSION\s+"([^"]{1,40})"', re.MULTILINE)
_DPKG_LIMIT = 1 << 24


@dataclass(frozen=True)
class Installation:
    """One prefix with a `lib/python3.X`: an installation, or a virtual environment."""

    prefix: str
    home: str
    minor: int
    config: dict[str, str] | None
    """The content of pyvenv.cfg in a virtual environment, else None."""

    @property
    def order(self) -> tuple[int, int, str]:
        """What is likely meant to be used: the smallest of several."""
        return self._rank(), -self.minor, self.prefix

    def _rank(self) -> int:
        if self.config is not None:
            return 0
        return {"/usr/local": 2, "/usr": 3}.get(self.prefix, 1)


def find(host: Host) -> Interpreter:
    """Return the interpreter that is likely meant to be used.

    VIRTUAL_ENV and PATH decide where the host's variables are known. Otherwise a virtual
    environment wins over one below /opt, that over /usr/local and that over /usr; then the
    highest version.
    """
    for executable in _named_by_variables(host):
        found = at(host, executable)
        if not found.problem:
            return found
    known = installations(host)
    if not known:
        return _none("no interpreter of Python 3 was found below the root")
    return _describe(host, known[0])


def at(host: Host, executable: str) -> Interpreter:
    """Return the interpreter with that executable; `problem` says why there is none."""
    folder = executable.rpartition("/")[0]
    prefix = folder.rpartition("/")[0]
    if not host.exists(executable):
        return _none(host.why_not(executable))
    if prefix and host.exists(f"{prefix}/pyvenv.cfg"):
        candidates = list(_below(host, prefix))
    else:
        real = _resolved(host, executable)
        prefix, name = real.rpartition("/")[0].rpartition("/")[0], real.rpartition("/")[2]
        candidates = list(_below(host, prefix or "/usr"))
        exact = [found for found in candidates if found.home.rpartition("/")[2] == name]
        candidates = exact or candidates
    if not candidates:
        return _none(f"{executable} has no standard library of Python 3 beside it")
    return _describe(host, min(candidates, key=lambda found: found.order))


def installations(host: Host) -> list[Installation]:
    """Return every interpreter and virtual environment in the usual places, likeliest first."""
    prefixes = list(_PREFIXES)
    for parent in _PARENTS:
        prefixes += [parent.rstrip("/") + name for name in _VENV_NAMES if name]
        for child in (host.listdir(parent) or [])[:_MOST_FOLDERS]:
            prefixes += [f"{parent.rstrip('/')}/{child}{name}" for name in _VENV_NAMES]
    found: dict[str, Installation] = {}
    for prefix in dict.fromkeys(prefixes):
        for installation in _below(host, prefix):
            found.setdefault(_resolved(host, installation.home), installation)
    return sorted(found.values(), key=lambda installation: installation.order)


def _named_by_variables(host: Host) -> Iterator[str]:
    virtual = host.environ.get("VIRTUAL_ENV")
    folders = [f"{virtual}/bin"] if virtual else []
    folders += host.environ.get("PATH", "").split(":")
    for folder in folders:
        if folder.startswith("/"):
            yield f"{folder.rstrip('/')}/python3"
            yield f"{folder.rstrip('/')}/python"


def _below(host: Host, prefix: str) -> Iterator[Installation]:
    """Yield what is installed under one prefix: folders with a standard library or a venv."""
    config = _venv_config(host, prefix)
    for lib in _LIBS:
        for name in host.listdir(f"{prefix}/{lib}") or []:
            match = _HOME_NAME.fullmatch(name)
            home = f"{prefix}/{lib}/{name}"
            if match is None:
                continue
            if config is not None:
                used = any(host.is_dir(f"{home}/{packages}") for packages in _PACKAGE_FOLDERS)
            else:
                used = host.exists(f"{home}/os.py") or host.exists(f"{home}/os.pyc")
            if used:
                yield Installation(prefix, home, int(match.group(1)), config)


def _venv_config(host: Host, prefix: str) -> dict[str, str] | None:
    text = host.read(f"{prefix}/pyvenv.cfg", 1 << 16)
    if text is None:
        return None
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _resolved(host: Host, path: str) -> str:
    """Return the path inside the root with all links followed."""
    try:
        real = host.path(path)
    except OSError:
        return path
    root = host.root.rstrip("/")
    return real[len(root) :] if root and real.startswith(f"{root}/") else real


def _none(problem: str) -> Interpreter:
    return Interpreter(None, None, None, None, (), problem=problem)


def _describe(host: Host, found: Installation) -> Interpreter:
    base = _base(host, found)
    path = _path(host, found, base)
    return Interpreter(
        version=_version(host, found, base),
        implementation="cpython",
        cache_tag=f"cpython-3{found.minor}",
        ext_suffix=_ext_suffix(host, base or found),
        path=tuple(path),
        home=found.home,
        kind=_kind(host, found),
    )


def _kind(host: Host, found: Installation) -> str:
    if found.config is not None:
        return "venv"
    return "conda" if host.is_dir(f"{found.prefix}/conda-meta") else "system"


def _base(host: Host, found: Installation) -> Installation | None:
    """Return the installation that a virtual environment was made from, if it is there."""
    if found.config is None:
        return found
    folder = found.config.get("home", "")
    prefixes = [folder.rpartition("/")[0]] if folder.startswith("/") else []
    names = (f"python3.{found.minor}", "python3", "python")
    for prefix in [*prefixes, *_real_prefixes(host, folder, names)]:
        for base in _below(host, prefix):
            if base.minor == found.minor and base.config is None:
                return base
    return None


def _real_prefixes(host: Host, folder: str, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if host.exists(f"{folder}/{name}"):
            yield _resolved(host, f"{folder}/{name}").rpartition("/")[0].rpartition("/")[0]


def _version(host: Host, found: Installation, base: Installation | None) -> str | None:
    """Return the full version: from a header, a package manager's record, or pyvenv.cfg."""
    candidates: list[str | None] = []
    if base is not None:
        folder = base.home.rpartition("/")[2]
        header = host.read(f"{base.prefix}/include/{folder}/patchlevel.h") or ""
        match = _VERSION_LINE.search(header)
        candidates.append(match.group(1).rstrip("+") if match else None)
        candidates.append(_conda_version(host, base.prefix))
        if base.prefix == "/usr":
            candidates += [_dpkg_version(host, base.minor), _apk_version(host)]
    if found.config is not None:
        recorded = found.config.get("version_info") or found.config.get("version") or ""
        candidates.append(".".join(recorded.split(".")[:3]) or None)
    for version in candidates:
        if version is not None and version.startswith(f"3.{found.minor}."):
            return version
    return None


def _conda_version(host: Host, prefix: str) -> str | None:
    for name in host.listdir(f"{prefix}/conda-meta") or []:
        parts = name.rsplit("-", 2)
        if len(parts) == 3 and parts[0] == "python" and name.endswith(".json"):
            return parts[1]
    return None


def _dpkg_version(host: Host, minor: int) -> str | None:
    """Return the version in dpkg's list (or in the one file per package of distroless images)."""
    package = f"python3.{minor}-minimal"
    texts = [
        host.read(f"/var/lib/dpkg/status.d/{name}") or ""
        for name in host.listdir("/var/lib/dpkg/status.d") or []
        if name.startswith(f"python3.{minor}") or name == package
    ]
    texts.append(host.read("/var/lib/dpkg/status", _DPKG_LIMIT) or "")
    for text in texts:
        for name in (package, f"libpython3.{minor}-minimal"):
            _, found, rest = f"\n{text}".partition(f"\nPackage: {name}\n")
            if not found:
                continue
            for line in rest.split("\n\n", 1)[0].splitlines():
                if line.startswith("Version: "):
                    return _upstream(line[9:].strip())
    return None


def _upstream(version: str) -> str:
    """Return a Debian version without epoch and revision, its `~rc1` as PEP 440 has it."""
    version = version.partition(":")[2] or version
    return version.rpartition("-")[0].replace("~", "") or version


def _apk_version(host: Host) -> str | None:
    text = host.read("/lib/apk/db/installed", _DPKG_LIMIT) or ""
    _, found, rest = f"\n{text}".partition("\nP:python3\n")
    if found:
        for line in rest.split("\n\n", 1)[0].splitlines():
            if line.startswith("V:"):
                return line[2:].rpartition("-r")[0].replace("_", "")
    return None


def _ext_suffix(host: Host, base: Installation) -> str | None:
    """Return the suffix of compiled modules, read off the standard library's own ones."""
    mark = f".cpython-3{base.minor}"
    for name in host.listdir(f"{base.home}/lib-dynload") or []:
        stem, dot, rest = name.partition(".")
        if name.endswith(".so") and name.startswith(mark, len(stem)):
            return dot + rest
    return None


def _path(host: Host, found: Installation, base: Installation | None) -> list[str]:
    """Return the folders of the import path, in the interpreter's order."""
    out: list[str] = []
    if base is not None:
        out += [base.home, f"{base.home}/lib-dynload"]
    packages = _package_folders(host, found)
    system = (found.config or {}).get("include-system-site-packages", "").lower() == "true"
    if system and base is not None:
        packages += _package_folders(host, base)
    for folder in packages:
        out.append(folder)
        out += _named_in_pth(host, folder)
    unique: dict[str, str] = {}
    for folder in out:
        if host.is_dir(folder) or folder in packages:
            unique.setdefault(_resolved(host, folder), folder)
    return list(unique.values())


def _package_folders(host: Host, found: Installation) -> list[str]:
    name = found.home.rpartition("/")[2]
    out = [f"{found.home}/site-packages", f"{found.home}/dist-packages"]
    out += [f"{found.prefix}/{lib}/{name}/site-packages" for lib in _LIBS]
    if found.prefix == "/usr":
        out.insert(0, f"/usr/local/lib/{name}/dist-packages")
        out.append("/usr/lib/python3/dist-packages")
    return [folder for folder in dict.fromkeys(out) if host.is_dir(folder)]


def _named_in_pth(host: Host, folder: str) -> Iterator[str]:
    """Yield the folders that .pth files put on the path (their code is not run)."""
    for name in host.listdir(folder) or []:
        if not name.endswith(".pth") or name.startswith("."):
            continue
        for line in (host.read(f"{folder}/{name}", 1 << 16) or "").splitlines():
            line = line.strip()
            if line and not line.startswith(("#", "import ", "import\t")):
                target = line if line.startswith("/") else f"{folder}/{line}"
                if host.is_dir(target):
                    yield target
