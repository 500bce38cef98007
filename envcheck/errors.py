"""Everything envcheck raises on purpose, each with its exit code.

    EnvcheckError                 exit 2 unless said otherwise
    ├── UsageError                the command line or the call does not make sense
    ├── InputError                a file or stream cannot be read as what it should be
    │   └── SchemaError           well-formed, but not of a schema this version reads
    ├── OutputError               a result cannot be written where it was asked for
    ├── ConfigError               the configuration is wrong
    ├── RuleError                 a rule file is wrong
    ├── MissingExtra              an optional dependency is not installed
    └── NothingChecked            exit 3: there was nothing to judge

Every message has a place, a problem and, where one helps, a hint.
"""

from __future__ import annotations

__all__ = [
    "EXIT_CONFORMS",
    "EXIT_CRASHED",
    "EXIT_DOES_NOT_CONFORM",
    "EXIT_UNDETERMINED",
    "EXIT_USAGE",
    "ConfigError",
    "EnvcheckError",
    "InputError",
    "MissingExtra",
    "NothingChecked",
    "OutputError",
    "RuleError",
    "SchemaError",
    "UsageError",
]

EXIT_CONFORMS = 0
EXIT_DOES_NOT_CONFORM = 1
EXIT_USAGE = 2
EXIT_UNDETERMINED = 3
EXIT_CRASHED = 4


class EnvcheckError(Exception):
    """An expected failure, told to the user without a traceback."""

    exit_code = EXIT_USAGE

    def __init__(self, problem: str, *, place: str = "", hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        """Return the message as the user sees it: `place: problem`, then the hint."""
        head = f"{self.place}: {self.problem}" if self.place else self.problem
        return f"{head}\nhint: {self.hint}" if self.hint else head


class UsageError(EnvcheckError):
    """The command line, or the arguments of a function, do not make sense."""


class InputError(EnvcheckError):
    """A file or stream cannot be read as what it should be."""


class SchemaError(InputError):
    """Well-formed input of a schema that this version does not read."""


class OutputError(EnvcheckError):
    """A result cannot be written where it was asked for."""


class ConfigError(EnvcheckError):
    """The configuration is wrong."""


class RuleError(EnvcheckError):
    """A rule file is wrong."""


class MissingExtra(EnvcheckError):
    """An optional dependency is needed and not installed."""

    def __init__(self, module: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {module}, which is not installed",
            hint=f"python -m pip install 'ml-envcheck{f'[{extra}]' if extra else ''}'",
        )


class NothingChecked(EnvcheckError):
    """There was nothing to judge; never a pass."""

    exit_code = EXIT_UNDETERMINED
