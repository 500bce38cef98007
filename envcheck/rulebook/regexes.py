"""The regular expressions that `string:matches` takes.

A small language that every engine reads the same way and that cannot run away: literals,
classes, groups, alternatives, anchors and quantifiers; no look-around, no back-reference,
no quantifier over a quantifier, at most two unbounded ones.
"""

from __future__ import annotations

import re
import warnings

__all__ = ["mistake_in"]

_UNBOUNDED_LIMIT = 2
_TOKEN = re.compile(
    r"""
      (?P<escape> \\ [dDwWsSnrt.^$*+?()\[\]{}|/\\-] )
    | (?P<set> \[ \^? (?: \\[dDwWsSnrt.^$*+?()\[\]{}|/\\-] | [^\]\[\\] )+ \] )
    | (?P<open> \( (?: \?: )? (?! \? ) )
    | (?P<close> \) )
    | (?P<unbounded> [*+] | \{ \d+ , \} )
    | (?P<bounded> \? | \{ \d{1,2} (?: , \d{1,2} )? \} )
    | (?P<anchor> [\^$] )
    | (?P<bar> \| )
    | (?P<literal> [^\\\[\](){}*+?|^$] )
    """,
    re.VERBOSE,
)


def mistake_in(pattern: str) -> str:
    """Return what is wrong with a pattern, or an empty text."""
    at, unbounded = 0, 0
    groups = [False]  # for each open group, whether it holds a quantifier
    atom: bool | None = None  # the last atom: None if absent, else whether it holds a quantifier
    while at < len(pattern):
        match = _TOKEN.match(pattern, at)
        kind = match.lastgroup if match else None
        if match is None or kind is None:
            return f"{pattern[at:]!r} is outside the portable regular expressions"
        at = match.end()
        if kind == "open":
            groups.append(False)
            atom = None
        elif kind == "close":
            if len(groups) == 1:
                return "unbalanced ')'"
            atom = groups.pop()
            groups[-1] |= atom
        elif kind in ("bounded", "unbounded"):
            if atom is not False:
                return f"nothing to repeat, or a nested repetition, before {pattern[at - 1 :]!r}"
            atom = groups[-1] = True
            unbounded += kind == "unbounded"
        else:
            atom = None if kind in ("anchor", "bar") else False
    if len(groups) > 1:
        return "unbalanced '('"
    if unbounded > _UNBOUNDED_LIMIT:
        return f"more than {_UNBOUNDED_LIMIT} unbounded repetitions"
    return _refused_by_re(pattern)


def _refused_by_re(pattern: str) -> str:
    """Return why `re` refuses a pattern, or warns that it may come to mean something else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, Warning) as problem:
        return str(problem)
    return ""
