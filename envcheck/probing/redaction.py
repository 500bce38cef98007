"""Keep secrets and personal data out of fingerprints.

Variables are read by exact name only (`envcheck.probes.env`); on top of that every string of
every fact passes through `Redactor`. Nearly all strings are harmless, so a few plain substring
tests come first, and an exact pattern is compiled only once its hint was seen. CPython 3.9,
standard library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from re import Pattern
from typing import Any

__all__ = ["REDACTED", "Redactor", "strip_url"]

REDACTED = "[redacted]"

_NAME = (
    r"(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|account[_-]?key"
    r"|private[_-]?key|secret[_-]?key|(?<![a-z])(?:pass|pwd|pw|o?auth|authorization|creds?"
    r"|credentials?|dsn|sig|signature))"
)
_VERSION = r"\d+(?:\.(?:\d+|\*))*(?:[/\s,;)\"']|$)"
_ASSIGNED = (
    # name = value, but neither a comparison (`auth==2.0`) nor a version or port (`auth=2.0`)
    rf"(?i){_NAME}[\"']?\s*[=:](?!=)\s*(?:[|>][+-]?\s+)?[\"']?(?!{_VERSION})[^\s=<>~!,;)\"']{{3,}}"
    rf"|--(?:pass(?:word)?|token|secret|api-key)\s+[^\s-]\S{{2,}}"
)
_NAME_HINTS = ("pass", "pwd", "pw=", "pw:", "secret", "token", "key", "auth", "cred", "dsn", "sig")

_PLAIN: tuple[tuple[tuple[str, ...], str], ...] = (
    # hints, of which one must occur in lower case; the exact pattern
    (("private key",), r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY"),
    (("dapi",), r"\bdapi[0-9a-f]{32}"),
    (("dop_v1_",), r"\bdop_v1_[0-9a-f]{32,}"),
    (("shpat_", "shpss_"), r"\bshp(?:at|ss)_[0-9a-fA-F]{20,}"),
    (("xox", "xapp-"), r"\bx(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}"),
    (("hooks.slack.com/",), r"hooks\.slack\.com/\w+/\w+"),
    (("bearer", "basic"), r"(?i)\b(?:bearer|basic)\s+(?=\S*\d)[A-Za-z0-9+/_.~=-]{16,}"),
    (("gpu-", "mig-"), r"\b(?:MIG-)?(?:GPU|MIG)-[0-9a-fA-F]{8}"),  # a device's UUID
    (_NAME_HINTS, _ASSIGNED),
)
_MIXED: tuple[tuple[tuple[str, ...], str], ...] = (
    # the same, for secrets that surely hold a capital letter
    (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    (("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"), r"\bgl[a-z]{2,4}-[A-Za-z0-9_-]{16,}"),
    (("hf_", "api_org_"), r"\b(?:hf|api_org)_[A-Za-z0-9]{20,}"),
    (("sk-",), r"(?<![\w-])sk-(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,}"),
    (("k_live_", "k_test_"), r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    (("pypi-age",), r"\bpypi-AgE[A-Za-z0-9_-]{16,}"),
    (("aiza",), r"\bAIza[0-9A-Za-z_-]{30,}"),
    (("ya29.",), r"\bya29\.[0-9A-Za-z_-]{20,}"),
    (("gocspx-",), r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
    (("npm_",), r"\bnpm_[A-Za-z0-9]{30,}"),
    (("dckr_",), r"\bdckr_\w+_[A-Za-z0-9_-]{16,}"),
    (("sg.",), r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    (("hvs.", "hvb."), r"\bhv[sb]\.[\w-]{20,}"),
    (("lin_api_", "ntn_", "glsa_", "gsk_"), r"\b(?:lin_api|ntn|glsa|gsk)_[A-Za-z0-9_]{20,}"),
    (("nvapi-",), r"\bnvapi-[\w-]{20,}"),
    (("atatt3",), r"\bATATT3[\w=-]{20,}"),
    (("r8_",), r"\br8_[A-Za-z0-9]{30,}"),
    (("age-secret-key",), r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    ((":aa",), r"\b\d{8,10}:AA[\w-]{30,}"),
    (("eyj", "eyk"), r"\bey[JK][\w-]{10,}\.[\w-]{10,}"),
)
_PRIVATE_KEY = _PLAIN[0][1]
_MIXED_HINTS = tuple(hint for hints, _ in _MIXED for hint in hints)
_HOME_HINTS = ("/home/", "/users/", "\\users", ":/users")
_SURROGATE = "\\ud"
"""How `repr` shows half a surrogate pair, which no UTF-8 file can hold."""
_HINTS = (*_HOME_HINTS, _SURROGATE, *(hint for hints, _ in _PLAIN for hint in hints))

_USERINFO = r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?:[^/\s]*|[^/\s:@]*:(?!\d+(?:/|$))[^@\s]*)@"
_HOME = (
    r"(?<![\w.~-])(?:/(?:usr|var|export|mnt|data|nfs|net|mnt/[a-z]|[a-z]))?/(?:home|Users)/+"
    r"[^/\\:;,\s\"']+"
    r"|(?i:\b[a-z]:[\\/]+users)[\\/]+[^/\\:;,\n\"']+"
)
_SYSTEM_FOLDERS = frozenset(
    f"/{name}" for name in ("app", "etc", "home", "lib", "opt", "root", "srv", "tmp", "usr", "var")
)
"""Homes of service accounts, which are folders of the system and tell nothing."""
_PERSON = ("USER", "LOGNAME", "USERNAME", "SUDO_USER")
_MACHINE = ("HOSTNAME", "COMPUTERNAME")
_NOBODY = frozenset({
    "admin", "app", "conda", "debian", "docker", "home", "jenkins", "jovyan", "lib", "local",
    "nobody", "opt", "python", "root", "runner", "tmp", "ubuntu", "user", "users", "usr",
    "var", "vscode", "www-data", "localhost",
})  # fmt: skip
"""Names that tell nothing about a person or a machine, and are folder names too."""
_SHORTEST_NAME = 3

_compiled: dict[str, Pattern[str]] = {}


def _regex(pattern: str) -> Pattern[str]:
    found = _compiled.get(pattern)
    if found is None:
        found = _compiled[pattern] = re.compile(pattern)
    return found


class Redactor:
    """Removes secrets, home folders, user and host names from the values of facts."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        homes: set[str] = set()
        for name in ("HOME", "USERPROFILE"):
            home = environ.get(name, "").rstrip("/\\")
            if len(home) > 1 and home not in _SYSTEM_FOLDERS:
                homes.add(home)
        self._homes = sorted(homes, key=len, reverse=True)
        self._names = _names(environ)
        self._hints = (*_HINTS, *(text.lower() for text in (*self._homes, *self._names)))

    def clean(self, value: Any) -> Any:
        """Return `value` (JSON data) with every string in it cleaned, keys of objects too.

        The same object comes back when nothing in it looks like a secret.
        """
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, (list, dict)):
            return value
        everything = repr(value)  # all strings at once; only what is looked for matters
        if not self._suspicious(everything):
            return value
        if "PRIVATE KEY" in everything and _regex(_PRIVATE_KEY).search(everything):
            # A key split into lines shows its head in one string only.
            return _blanked(value)
        return self._each(value)

    def _each(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._each(item) for item in value]
        if isinstance(value, dict):
            return {self.text(str(key)): self._each(item) for key, item in value.items()}
        return self.text(value) if isinstance(value, str) else value

    def _suspicious(self, text: str) -> bool:
        """Return whether one of the exact tests is worth its time."""
        if not text.isascii() or ("@" in text and "://" in text):
            return True
        lowered = text.lower()
        within = lowered.__contains__  # the fastest way, since this is asked for every fact
        return any(map(within, self._hints)) or (lowered != text and any(map(within, _MIXED_HINTS)))

    def text(self, value: str) -> str:
        """Return one string without secrets, home folders, names and lone surrogates."""
        if not value or not self._suspicious(value):
            return value
        if not value.isascii():
            value = value.encode("utf-8", "replace").decode("utf-8")
        if "@" in value and "://" in value:
            value = _regex(_USERINFO).sub(r"\g<scheme>", value)
        if _holds_secret(value):
            return REDACTED
        if "/" in value or "\\" in value:
            for home in self._homes:
                value = _replace_part(value, home, "~")
            value = _regex(_HOME).sub("~", value)
            if "://" not in value:
                for name in self._names:
                    value = _replace_part(value, name, REDACTED, inside=True)
        return value


def _names(environ: Mapping[str, str]) -> list[str]:
    """Return the user and host names that must not stand in a path."""
    found = {environ.get(name, "") for name in (*_PERSON, *_MACHINE)}
    if environ is os.environ and hasattr(os, "uname"):
        found.add(os.uname().nodename)
    found |= {name.partition(".")[0] for name in found}
    wanted = [name for name in found if len(name) >= _SHORTEST_NAME and name not in _NOBODY]
    return sorted(wanted, key=lambda name: (-len(name), name))


def _holds_secret(value: str) -> bool:
    lowered = value.lower()
    return any(
        any(hint in lowered for hint in hints) and _regex(pattern).search(value)
        for hints, pattern in (*_PLAIN, *_MIXED)
    )


def _replace_part(value: str, part: str, by: str, *, inside: bool = False) -> str:
    """Replace a folder, or with `inside` a name, wherever it is a whole component of a path."""
    if part not in value:
        return value
    before = r"(?<=[/\\])" if inside else r"(?<![\w.-])"
    return _regex(before + re.escape(part) + r"(?![^/\\:;,\s\"'])").sub(
        lambda _match: by,  # a function, so that nothing in it is read as a group
        value,
    )


def _blanked(value: Any) -> Any:
    """Return JSON data of the same shape with every string in it redacted."""
    if isinstance(value, list):
        return [_blanked(item) for item in value]
    if isinstance(value, dict):
        return {key: _blanked(item) for key, item in value.items()}
    return REDACTED if isinstance(value, str) else value


def strip_url(url: str) -> str:
    """Return an address without credentials, query and fragment; `file:` for a local path."""
    scheme, sep, rest = url.partition("://")
    if not sep:
        return "" if os.sep in url or ":" in url else url
    if scheme.lower() == "file":
        return "file:"
    rest = rest.split("?", 1)[0].split("#", 1)[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
