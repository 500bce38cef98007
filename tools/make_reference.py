"""Write docs/reference/: commands and facts, as the code has them; rules: `rule_pages.py`.

python tools/make_reference.py
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TARGET = ROOT / "docs" / "reference"
_MADE = "<!-- Made by tools/make_reference.py; change the code instead. -->"

_ABOUT_FACTS = """\
Every fact that a fingerprint may hold. A state goes with each value: `ok`, `not_applicable`,
`unknown` or `error`, the last two with the reason."""


def commands() -> str:
    """Return the page of commands: the help of each."""
    from envcheck.cli.commands import COMMANDS, overview

    parts = ["# Commands", "", _MADE, "", *_fenced(overview())]
    for name, about in COMMANDS.items():
        parser = importlib.import_module(about.module).parser()
        parts += ["", f"## envcheck {name}", "", *_fenced(parser.format_help())]
        for command, inner in _inner(parser):
            parts += ["", f"### envcheck {name} {command}", "", *_fenced(inner.format_help())]
    return "\n".join(parts) + "\n"


def _inner(parser: Any) -> Iterator[tuple[str, Any]]:
    """Yield the sub-commands of a command."""
    for action in parser._actions:
        if isinstance(action.choices, dict):
            yield from action.choices.items()


def _fenced(text: str) -> list[str]:
    return ["```text", *text.rstrip().splitlines(), "```"]


def facts() -> str:
    """Return the page of facts: key, type and meaning, by group."""
    from envcheck.catalogue import KEYS

    groups: dict[str, list[str]] = {}
    for key in sorted(KEYS):
        groups.setdefault(key.partition(".")[0], []).append(key)
    parts = ["# Facts", "", _MADE, "", _ABOUT_FACTS]
    for group, keys in groups.items():
        parts += ["", f"## {group}", "", "| key | type | meaning |", "|---|---|---|"]
        for key in keys:
            kind = KEYS[key]
            meaning = f"{kind.doc} [{kind.unit}]" if kind.unit else kind.doc
            parts.append(f"| `{key}` | {_cell(_type(kind.type))} | {_cell(meaning)} |")
            parts += [
                f"| `{key}` → `{name}` | {_cell(_type(inner))} | {_cell(doc)} |"
                for name, (inner, doc) in (kind.fields or {}).items()
            ]
    return "\n".join(parts) + "\n"


def _type(kind: Any) -> str:
    """Return the name of a declared type."""
    if isinstance(kind, dict):
        return f"object of {', '.join(kind)}"
    if isinstance(kind, list):
        return f"list of {_type(kind[0])}"
    return str(kind)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands, "facts.md": facts}  # fmt: skip


def main() -> int:
    """Write the pages."""
    import envcheck

    if importlib.util.find_spec("envcheck.probes") is None:
        envcheck.__path__.append(str(ROOT))
    TARGET.mkdir(exist_ok=True)
    for name, make in PAGES.items():
        (TARGET / name).write_text(make(), "utf-8")
        print(TARGET / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
