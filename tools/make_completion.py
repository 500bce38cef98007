"""Write shell completion for envcheck, made from the parsers of its commands.

    python tools/make_completion.py

Files go to docs/completion/; the tool itself needs nothing for it at run time.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

TARGET = ROOT / "docs" / "completion"
FILES = {"bash": "envcheck.bash", "zsh": "_envcheck", "tcsh": "envcheck.tcsh"}


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command as a sub-command."""
    import envcheck

    if importlib.util.find_spec("envcheck.probes") is None:
        envcheck.__path__.append(str(ROOT))
    from envcheck.cli.commands import COMMANDS

    parser = argparse.ArgumentParser(prog="envcheck")
    parser.add_argument("--version", action="store_true", help="show the version")
    commands = parser.add_subparsers(dest="command")
    for name, command in COMMANDS.items():
        made = importlib.import_module(command.module).parser()
        commands.add_parser(name, help=command.summary, parents=[made], conflict_handler="resolve")
    return parser


def completion(shell: str) -> str:
    """Return the completion script of a shell."""
    import shtab

    text: str = shtab.complete(whole_parser(), shell=shell)
    return text


def main() -> int:
    """Write the files."""
    TARGET.mkdir(exist_ok=True)
    for shell, name in FILES.items():
        (TARGET / name).write_text(completion(shell).rstrip() + "\n", "utf-8")
        print(TARGET / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
