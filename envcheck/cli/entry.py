"""One run of the command line: choose the command, run it, turn every end into an exit code.

CPython 3.9, standard library.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from envcheck import __version__
from envcheck.cli.commands import ALIASES, COMMANDS, overview
from envcheck.cli.console import Closed, Console, silence, tell_error
from envcheck.errors import (
    EXIT_CONFORMS,
    EXIT_CRASHED,
    EXIT_USAGE,
    EnvcheckError,
    MissingExtra,
    UsageError,
)
from envcheck.reporting.escape import escape_lines

__all__ = ["run"]

_DEPENDENCIES = ("cpuinfo", "packaging", "pip_api", "psutil", "pydantic")
"""What an installation with pip brings; a zipapp or a bare checkout may be without."""
EXIT_INTERRUPTED = 130
EXIT_CLOSED = 141
"""What a shell reports for a program that SIGPIPE ended: the output was not all delivered."""


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; never raises."""
    try:
        return _run(arguments)
    except EnvcheckError as problem:
        tell_error(problem)
        if _wants_traceback():
            _show_traceback()
        return problem.exit_code
    except ModuleNotFoundError as problem:
        if problem.name not in _DEPENDENCIES:
            _tell_crash(problem, arguments)
            return EXIT_CRASHED
        tell_error(MissingExtra(problem.name or "", "", f"envcheck {arguments[0]}"))
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except (Closed, BrokenPipeError):
        silence(sys.stdout)
        return EXIT_CLOSED
    except BaseException as problem:  # noqa: BLE001 - Python's exit code 1 would read as a verdict
        _tell_crash(problem, arguments)
        return EXIT_CRASHED


def _run(arguments: list[str]) -> int:
    first = ALIASES.get(arguments[0], arguments[0]) if arguments else ""
    if first in COMMANDS:
        return _run_command(first, arguments[1:])
    if first == "help" and arguments[1:2]:
        return _run_command(_known(arguments[1]), ["--help"])
    if first in ("-h", "--help", "help"):
        Console().deliver(overview())
        return EXIT_CONFORMS
    if first == "--version":
        Console().deliver(f"envcheck {__version__}\n")
        return EXIT_CONFORMS
    if not first:
        Console().note(overview().rstrip())
        return EXIT_USAGE
    if first.startswith("-"):
        raise UsageError(
            f"unknown option {first}",
            place="envcheck",
            hint="options stand after the command: envcheck COMMAND [options]",
        )
    _known(first)
    return EXIT_USAGE


def _known(name: str) -> str:
    name = ALIASES.get(name, name)
    if name in COMMANDS:
        return name
    from envcheck.cli.parsing import closest

    guess = closest(name, COMMANDS)
    listed = f"the commands are {', '.join(COMMANDS)}"
    raise UsageError(
        f"unknown command {name!r}",
        place="envcheck",
        hint=f"did you mean envcheck {guess}?" if guess else listed,
    )


def _run_command(name: str, arguments: list[str]) -> int:
    command = COMMANDS[name]
    if sys.version_info[:2] < command.needs:
        needs, here = (".".join(map(str, v)) for v in (command.needs, sys.version_info[:2]))
        raise UsageError(
            f"needs Python {needs} or newer, this is {here}",
            place=f"envcheck {name}",
            hint="only `envcheck capture` runs here; compare the fingerprint elsewhere",
        )
    module: Any = importlib.import_module(command.module)
    parser = module.parser()
    try:
        options = parser.read(arguments)
    except SystemExit:  # argparse has printed the help
        sys.stdout.flush()
        return EXIT_CONFORMS
    console = Console(
        quiet=options.quiet, verbose=options.verbose, color=getattr(options, "color", "auto")
    )
    code: int = module.run(options, console)
    return code


def _wants_traceback() -> bool:
    return os.environ.get("ENVCHECK_DEBUG", "0") not in ("", "0")


def _tell_crash(problem: BaseException, arguments: list[str]) -> None:
    flags = {"-v", "--verbose"}
    if _wants_traceback() or flags & set(arguments):
        _show_traceback()
    version = ".".join(map(str, sys.version_info[:3]))
    tell_error(
        EnvcheckError(
            f"internal error: {type(problem).__name__}: {problem}",
            hint="this is a fault of envcheck and no verdict; please report it with the output of\n"
            "      the same command under ENVCHECK_DEBUG=1"
            f" (envcheck {__version__}, Python {version}, {sys.platform})",
        )
    )


def _show_traceback() -> None:
    import traceback

    Console().note(escape_lines(traceback.format_exc().rstrip()))
