"""Make envcheck.pyz, one file that any CPython >= 3.11 runs (3.9 for captures), from the wheel.

    python -m build --wheel
    python tools/build_pyz.py dist/ml_envcheck-*.whl -o dist/envcheck.pyz

The installed `packaging` goes in too, since version questions need it and a container may have
nothing. The same wheel and the same `packaging` give the same bytes. Metadata stays out, so that
the tool never counts as an installed distribution of the environment that it looks at; the
licences go in.
"""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

SHEBANG = b"#!/usr/bin/env python3\n"
EARLIEST = (1980, 1, 1, 0, 0, 0)
MAIN = """\
import sys

if sys.version_info < (3, 9):
    sys.stderr.write("envcheck.pyz: Python %d.%d is too old, 3.9 captures and 3.11 does all\\n"
                     % sys.version_info[:2])
    sys.exit(2)

from envcheck.cli import main

sys.exit(main())
"""


def build(wheel: Path) -> bytes:
    """Return the bytes of the zipapp made from a wheel."""
    archive = io.BytesIO(SHEBANG)
    archive.seek(0, io.SEEK_END)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as app:
        for name, data in sorted(_contents(wheel).items()):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, also when built elsewhere
            entry.external_attr = 0o100644 << 16
            app.writestr(entry, data)
    return archive.getvalue()


def _contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of the zipapp by name."""
    files = {"__main__.py": MAIN.encode(), **_packaging()}
    with zipfile.ZipFile(wheel) as source:
        for name in source.namelist():
            folder, _, rest = name.partition("/")
            if not folder.endswith(".dist-info"):
                files[name] = source.read(name)
            elif rest.endswith("LICENSE"):
                files["LICENSE"] = source.read(name)
    return files


def _packaging() -> dict[str, bytes]:
    """Return the code and the licences of the installed `packaging`."""
    files = {}
    for path in distribution("packaging").files or ():
        if path.parts[0] == "packaging" and path.suffix == ".py":
            files[path.as_posix()] = path.read_binary()
        elif path.name.startswith("LICENSE"):
            files[f"packaging/{path.name}"] = path.read_binary()
    return files


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description="Make envcheck.pyz from a wheel.",
        epilog="example: python tools/build_pyz.py dist/ml_envcheck-0.1.0-py3-none-any.whl",
    )
    parser.add_argument("wheel", type=Path, help="the wheel to build from")
    parser.add_argument("-o", "--output", type=Path, default=Path("envcheck.pyz"))
    options = parser.parse_args(arguments)
    options.output.write_bytes(build(options.wheel))
    options.output.chmod(0o755)
    print(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
