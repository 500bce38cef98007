"""The interpreter: version, binary interface, start-up flags, text encoding, time zone."""

from __future__ import annotations

import codecs
import sys
from typing import TYPE_CHECKING, Any

from envcheck.facts import Fact, Facts, not_applicable, ok, unknown

if TYPE_CHECKING:
    from envcheck.probing.host import Host
    from envcheck.probing.interpreter import Interpreter

_LOCALTIME = "/etc/localtime"
_ZONEINFO = ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo")
_UTC = frozenset(
    f"{area}{name}"
    for area in ("", "Etc/")
    for name in (
        "UTC", "UCT", "GMT", "GMT0", "GMT+0", "GMT-0", "Zulu", "Universal", "Greenwich", "UTC0",
        "UTC-0", "UTC+0",
    )
)  # fmt: skip
_ZONE_LIMIT = 1 << 16
_NOT_RUN = "depends on how the interpreter is started, and it was not run"


def probe(host: Host) -> Facts:
    """Return what the interpreter is and how it was started."""
    interpreter = host.interpreter
    facts = _from_files(interpreter)
    facts["python.timezone"] = _timezone(host)
    if interpreter.running:
        facts.update(_from_process(host))
    else:
        for key in (
            "optimize", "hash_seed", "text_encoding", "filesystem_encoding", "utf8_mode",
            "user_site", "path_extras",
        ):  # fmt: skip
            facts[f"python.{key}"] = unknown(interpreter.problem or _NOT_RUN)
    return dict(sorted(facts.items()))


def _from_files(interpreter: Interpreter) -> Facts:
    """Return what is known of an interpreter whether it runs or not."""
    suffix = interpreter.ext_suffix
    known: dict[str, Any] = {
        "version": interpreter.version,
        "implementation": interpreter.implementation,
        "cache_tag": interpreter.cache_tag,
        "ext_suffix": suffix,
        "environment": interpreter.kind,
        "free_threaded": None,
        "debug_build": None,
    }
    flags = _abi_flags(suffix) if suffix and interpreter.implementation == "cpython" else None
    if flags is not None:
        known["free_threaded"] = "t" in flags
        known["debug_build"] = "d" in flags
    if interpreter.running:
        known["debug_build"] = hasattr(sys, "gettotalrefcount")
    reason = interpreter.problem or "no file of the interpreter tells"
    source = "" if interpreter.running else interpreter.home
    facts = {
        f"python.{key}": unknown(reason) if value is None else ok(value, source)
        for key, value in known.items()
    }
    if interpreter.implementation not in (None, "cpython"):
        facts["python.free_threaded"] = not_applicable("a build option of CPython")
    return facts


def _abi_flags(suffix: str) -> str | None:
    """Return the letters after the version in a suffix, `td` in `.cpython-313td-x86_64-…`."""
    for mark in ("cpython-", ".cp"):
        _, found, rest = suffix.partition(mark)
        if found:
            return rest.split("-", 1)[0].split(".", 1)[0].lstrip("0123456789")
    return None


def _from_process(host: Host) -> Facts:
    interpreter = host.interpreter
    facts = {
        "python.optimize": ok(int(sys.flags.optimize)),
        "python.hash_seed": ok(_hash_seed(host)),
        "python.text_encoding": _text_encoding(),
        "python.filesystem_encoding": ok(_codec(sys.getfilesystemencoding())),
        "python.utf8_mode": ok(bool(sys.flags.utf8_mode)),
        "python.user_site": ok(_user_site(host)),
    }
    if interpreter.extras is None:
        facts["python.path_extras"] = unknown("the import path was not counted")
    else:
        facts["python.path_extras"] = ok(interpreter.extras)
    return facts


def _hash_seed(host: Host) -> str:
    """Return `random`, or the seed of str hashes that PYTHONHASHSEED fixes."""
    if not sys.flags.hash_randomization:
        return "0"
    value = "" if sys.flags.ignore_environment else host.environ.get("PYTHONHASHSEED", "")
    # "0" beside an active randomisation is what -R does.
    return str(int(value)) if value.isdecimal() and int(value) else "random"


def _text_encoding() -> Fact:
    """Return the encoding of `open()` without an argument, as this interpreter chooses it."""
    if sys.flags.utf8_mode:
        return ok("utf-8")
    import locale

    find = getattr(locale, "getencoding", None)  # 3.11
    name = find() if find is not None else locale.getpreferredencoding(False)
    return ok(_codec(name)) if name else unknown("the locale names no encoding")


def _codec(name: str) -> str:
    """Return the usual name of an encoding: `ascii` for ANSI_X3.4-1968."""
    try:
        return codecs.lookup(name).name
    except LookupError:
        return name.lower()


def _user_site(host: Host) -> bool:
    """Return whether packages of the user's own folder would be imported."""
    site = sys.modules.get("site")
    if site is None or not getattr(site, "ENABLE_USER_SITE", None):
        return False
    return getattr(site, "USER_SITE", None) in host.interpreter.path


def _timezone(host: Host) -> Fact:
    """Return the zone that local times are in: TZ, else /etc/localtime, else UTC."""
    if host.system == "win32":
        return unknown("the zone of Windows is not read")
    value = host.environ.get("TZ")
    if value is not None:
        return ok(_zone_of_variable(host, value), "TZ")
    target = host.link(_LOCALTIME)
    name = _zone_in(target) if target is not None else None
    if name is not None and host.exists(_LOCALTIME):
        return ok(_usual(name), _LOCALTIME)
    data = host.read_bytes(_LOCALTIME, _ZONE_LIMIT)
    if data is not None:
        return _zone_of_copy(host, data)
    if host.listdir("/etc") is None:
        return unknown(host.why_not("/etc"))
    if host.exists(_LOCALTIME):
        return unknown(host.why_not(_LOCALTIME))
    return ok("UTC", "the C library's default")


def _zone_of_variable(host: Host, value: str) -> str:
    """Return the zone that TZ selects; the C library takes UTC for one it cannot find."""
    name = value.lstrip(":")
    name = _zone_in(name) or name
    if not name:
        return "UTC"
    folders = (host.environ.get("TZDIR"), *_ZONEINFO)
    known = name.startswith("/") or any(
        folder and host.exists(f"{folder}/{name}") for folder in folders
    )
    if known or _is_rule(name):
        return _usual(name)
    return "UTC"


def _is_rule(name: str) -> bool:
    """Return whether a TZ value spells an offset itself, as CET-1CEST does."""
    letters = name.partition(">")[2] if name.startswith("<") else name.lstrip(_LETTERS)
    return letters != name and letters[:1] in "+-0123456789" and bool(letters.strip("+-"))


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _zone_in(path: str) -> str | None:
    """Return the name of the zone whose file `path` is."""
    _, found, name = path.partition("zoneinfo/")
    for variant in ("posix/", "right/"):
        name = name.removeprefix(variant)
    return name if found and name else None


def _usual(name: str) -> str:
    return "UTC" if name in _UTC else name


def _zone_of_copy(host: Host, data: bytes) -> Fact:
    """Return the zone of an /etc/localtime that is a copy: by name if /etc/timezone fits."""
    name = (host.read("/etc/timezone", 256) or "").strip()
    for folder in _ZONEINFO if name else ():
        if host.read_bytes(f"{folder}/{name}", _ZONE_LIMIT) == data:
            return ok(_usual(name), "/etc/timezone")
    # The last line of a TZif file of version 2 and up is the rule for the future (RFC 9636).
    rule = data.rstrip(b"\n").rpartition(b"\n")[2]
    if data[:4] == b"TZif" and data[4:5] >= b"2" and rule.isascii() and rule:
        text = rule.decode("ascii")
        if text.isprintable():
            return ok(_usual(text), _LOCALTIME)
    return unknown(f"{_LOCALTIME} does not tell its zone")
