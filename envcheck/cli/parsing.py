"""The parser of one command: help that teaches, and errors that say what was meant."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from envcheck.errors import UsageError

__all__ = ["Parser", "add_common_options", "closest", "one_of"]

HELP_WIDTH = 88


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width; asking for the terminal's would load half of `shutil`."""

    def __init__(self, prog: str, **options: Any) -> None:
        options.update(width=HELP_WIDTH, max_help_position=24)
        super().__init__(prog, **options)


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError and suggests the option that was meant."""

    def __init__(self, command: str, description: str, examples: str) -> None:
        super().__init__(
            prog=f"envcheck {command}",
            description=description,
            epilog=f"examples:\n{examples}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        self.command = command

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return the options; raises UsageError. `--help` prints and raises SystemExit(0)."""
        for word in arguments:
            if word == "--":
                break
            if word.startswith("--"):
                self._check_option(word.partition("=")[0])
        options, rest = self.parse_known_args(list(arguments))
        if not rest:
            return options
        if rest[0].startswith("-"):
            self._check_option(rest[0])
        raise UsageError(
            f"{rest[0]!r} is one argument too many", place=self.prog, hint=self._more()
        )

    def _check_option(self, name: str) -> None:
        known = [text for action in self._actions for text in action.option_strings]
        if name in known:
            return
        guess = closest(name, known)
        raise UsageError(
            f"unknown option {name}",
            place=self.prog,
            hint=f"did you mean {guess}?" if guess else self._more(),
        )

    def _more(self) -> str:
        return f"{self.prog} --help shows how it is called"

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise UsageError(message, place=self.prog, hint=self._more())


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word nearest to `word`, or None when none is near."""
    import difflib

    found: list[str] = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def one_of(name: str, *choices: str) -> Any:
    """Return an argparse `type` that accepts the choices and suggests one of them."""

    def check(word: str) -> str:
        if word in choices:
            return word
        guess = closest(word, choices)
        hint = f"; did you mean {guess}?" if guess else ""
        raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(choices)}{hint}")

    check.__name__ = name
    return check


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command has."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print nothing but the result and errors"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print more, and tracebacks of crashes"
    )
