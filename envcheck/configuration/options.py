"""Options and where each value comes from: command line, environment, file or default.

The standard library only: this runs where there is no configuration file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envcheck.errors import ConfigError
from envcheck.records import record

__all__ = ["OPTIONS", "Option", "Setting", "from_environment", "settle"]

PREFIX = "ENVCHECK_"
_OTHERS = (
    "BUDGET", "DEBUG", "EYE", "EYE_NODE", "GOLDEN", "MODEL", "POLICY", "SEAL", "STATE",
    "TERMINATION_LOG", "TRAIN",
)  # fmt: skip
"""Variables of other commands, which are no mistake here."""
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


@record(kw_only=True)
class Option:
    """One option: its default, its words if it has a fixed set, and what kind of value it has."""

    default: Any
    choices: tuple[str, ...] = ()
    kind: str = "text"


@record(kw_only=True)
class Setting:
    """A value and its source: `command line`, a variable, `FILE:LINE` or `default`."""

    value: Any
    source: str


OPTIONS: Mapping[str, Option] = {
    "profile": Option(default="default"),
    "waivers": Option(default=None),
    "baseline": Option(default=None),
    "fail-on": Option(default="error", choices=("error", "warning", "never")),
    "format": Option(default=(), kind="list"),
    "strict": Option(default=False, kind="flag"),
    "rules": Option(default=(), kind="list"),
    "engine": Option(default="builtin", choices=("builtin", "eye")),
    "color": Option(default="auto", choices=("auto", "always", "never")),
}
"""The options that a file or a variable may set, by their long name; `config` is set nowhere else.

`waivers` and `baseline` are names of files here, `rules` names of folders.
"""


def from_environment(environment: Mapping[str, str]) -> dict[str, Setting]:
    """Return what `ENVCHECK_*` variables set; raises ConfigError that lists every mistake.

    An empty variable counts as not set. Unknown variables belong to others, unless one is
    nearly the name of ours.
    """
    names = {PREFIX + name.upper().replace("-", "_"): name for name in (*OPTIONS, "config")}
    found: dict[str, Setting] = {}
    mistakes = []
    for variable in sorted(environment):
        if not variable.startswith(PREFIX) or not environment[variable]:
            continue
        if variable in names:
            value, mistake = _read(names[variable], environment[variable])
            if mistake:
                mistakes.append(f"{variable}: {mistake}")
            found[names[variable]] = Setting(value=value, source=variable)
        elif variable.removeprefix(PREFIX) not in _OTHERS:
            close = _closest(variable, names, 0.85)
            if close:
                mistakes.append(f"{variable}: unknown variable; did you mean {close}?")
    if mistakes:
        raise ConfigError("\n".join(mistakes))
    return found


def _read(name: str, text: str) -> tuple[Any, str]:
    """Return the value of a variable, and what is wrong with it."""
    option = OPTIONS.get(name, Option(default=None))
    if option.kind == "list":
        return tuple(part.strip() for part in text.split(",") if part.strip()), ""
    if option.kind == "flag":
        lowered = text.strip().lower()
        known = lowered in _TRUE | _FALSE
        return lowered in _TRUE, "" if known else f"{text!r} is neither true nor false"
    if option.choices and text not in option.choices:
        close = _closest(text, option.choices, 0.6)
        hint = f"; did you mean {close}?" if close else ""
        return text, f"{text!r} is none of {', '.join(option.choices)}{hint}"
    return text, ""


def _closest(word: str, known: Iterable[str], cutoff: float) -> str:
    """Return the known word nearest to a word, or an empty text."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), 1, cutoff)), "")


def settle(*layers: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return each option with the first setting that a layer has for it, else its default."""
    settled: dict[str, Setting] = {}
    for name, option in OPTIONS.items():
        chosen = next((layer[name] for layer in layers if name in layer), None)
        settled[name] = chosen or Setting(value=option.default, source="default")
    return settled
