"""The python probe, against the interpreters' own answers, recorded hosts and images."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.catalogue import keys_of
from envcheck.probing.host import Host
from envcheck.probing.interpreter import Interpreter, live_interpreter
from tests.images import Image

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from envcheck.facts import Fact
    from tests.conftest import Interpreters

probe = import_module("envcheck.probes.python").probe

PLAIN_C = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
SHOW = """
import json, sys
sys.path.append({root!r})
import envcheck
envcheck.__path__.append({root!r})
from envcheck.probes.python import probe
from envcheck.probing.host import Host
facts = {{key[7:]: fact.value for key, fact in probe(Host()).items()}}
sys.path.remove({root!r})
import codecs, locale, platform, site, sysconfig
config = sysconfig.get_config_var
encoding = getattr(locale, "getencoding", lambda: locale.getpreferredencoding(False))()
oracle = {{
    "version": platform.python_version(),
    "implementation": platform.python_implementation().lower(),
    "cache_tag": sys.implementation.cache_tag,
    "ext_suffix": config("EXT_SUFFIX"),
    "free_threaded": bool(config("Py_GIL_DISABLED")),
    "debug_build": bool(config("Py_DEBUG")),
    "optimize": sys.flags.optimize,
    "utf8_mode": bool(sys.flags.utf8_mode),
    "filesystem_encoding": sys.getfilesystemencoding(),
    "text_encoding": codecs.lookup("utf-8" if sys.flags.utf8_mode else encoding).name,
    "environment": "venv" if sys.prefix != sys.base_prefix else "system",
    "user_site": bool(site.ENABLE_USER_SITE) and site.getusersitepackages() in sys.path,
}}
print(json.dumps([facts, oracle]))
"""


def ask(
    python: Path | str, root: Path, environ: Mapping[str, str] | None = None, *flags: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the probe says in an interpreter, and what its standard library says."""
    done = subprocess.run(
        [str(python), "-B", *flags, "-c", SHOW.format(root=str(root))],
        capture_output=True, text=True, timeout=60,
        env={"PATH": os.environ["PATH"], **(environ or {})},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts, oracle = json.loads(done.stdout)
    return facts, oracle


@pytest.mark.parametrize("minor", ["3.9", "3.10", "3.11", "3.12", "3.13"])
@pytest.mark.parametrize(
    "environ",
    [{}, PLAIN_C, {"PYTHONUTF8": "1"}],
)
def test_against_the_standard_library(
    minor: str, environ: dict[str, str], interpreters: Interpreters, root: Path
) -> None:
    """Every fact equals what sysconfig, locale, platform and site answer."""
    facts, oracle = ask(interpreters[minor], root, environ)

    assert {key: facts[key] for key in oracle} == oracle


@pytest.mark.parametrize(
    ("environ", "flags", "key", "expected"),
    [
        ({}, (), "hash_seed", "random"),
        ({"PYTHONHASHSEED": "random"}, (), "hash_seed", "random"),
        ({"PYTHONHASHSEED": "0"}, (), "hash_seed", "0"),
        ({"PYTHONHASHSEED": "0042"}, (), "hash_seed", "42"),
        ({"PYTHONHASHSEED": "42"}, ("-E",), "hash_seed", "random"),
        ({"PYTHONHASHSEED": "0"}, ("-R",), "hash_seed", "random"),
        ({}, ("-OO",), "optimize", 2),
        ({"PYTHONOPTIMIZE": "1"}, (), "optimize", 1),
        (PLAIN_C, (), "text_encoding", "ascii"),
        ({"PYTHONNOUSERSITE": "1"}, (), "user_site", False),
    ],
)  # fmt: skip
def test_how_it_was_started(
    environ: dict[str, str], flags: tuple[str, ...], key: str, expected: object, root: Path
) -> None:
    """Variables count where the interpreter honours them, and only there."""
    facts, _ = ask(sys.executable, root, environ, *flags)

    assert facts[key] == expected


@pytest.mark.parametrize("minor", ["3.9", "3.13"])
def test_user_site(minor: str, interpreters: Interpreters, root: Path, tmp_path: Path) -> None:
    """The user's folder counts once it exists and unless it is switched off."""
    python = interpreters[minor]
    folder = tmp_path / f"lib/python{minor}/site-packages"
    environ = {"PYTHONUSERBASE": str(tmp_path)}
    assert ask(python, root, environ)[0]["user_site"] is False

    folder.mkdir(parents=True)
    facts, oracle = ask(python, root, environ)
    assert facts["user_site"] is oracle["user_site"] is True
    assert ask(python, root, environ, "-s")[0]["user_site"] is False


def running(host: Host) -> Host:
    """Let a recorded host count as the one of the running interpreter."""
    host._interpreter = live_interpreter()
    return host


def timezone(image: Image, environ: dict[str, str] | None = None) -> Fact:
    """Return the time zone that the probe finds on a host."""
    found: Fact = probe(running(image.host(environ or {})))["python.timezone"]
    return found


ZONE = "TZif2" + "\0" * 39 + "\nCET-1CEST,M3.5.0,M10.5.0/3\n"


@pytest.fixture
def image(tmp_path: Path) -> Image:
    """Return a host with time zone data."""
    image = Image(tmp_path / "root")
    for name in ("Europe/Berlin", "Etc/UTC", "UTC"):
        image.write(f"/usr/share/zoneinfo/{name}", ZONE)
    image.write("/etc/passwd")
    return image


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (":Europe/Berlin", "Europe/Berlin"),
        ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("posix/UTC", "UTC"),
        ("Etc/UTC", "UTC"), ("GMT0", "UTC"), ("UTC0", "UTC"), ("", "UTC"), ("Zulu", "UTC"),
        ("Mars/Olympus", "UTC"), ("Bogus", "UTC"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3"),
        ("<+03>-3", "<+03>-3"),
        ("EST5EDT", "EST5EDT"),
    ],
)  # fmt: skip
def test_timezone_of_tz(image: Image, value: str, expected: str) -> None:
    """TZ decides; a name without data means UTC to the C library, an offset means itself."""
    image.link("/etc/localtime", "/usr/share/zoneinfo/Europe/Berlin")

    assert timezone(image, {"TZ": value}).value == expected


@pytest.mark.parametrize(
    "value", ["Bogus/Zone", "", "UTC", "CET-1CEST", "EST5EDT", "<+03>-3", "ab"]
)
def test_timezone_of_tz_against_the_c_library(value: str) -> None:
    """Where we say UTC, the C library is at UTC, and where we do not, it is not."""
    code = "import time; print(time.timezone, time.daylight)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], env={"TZ": value}, capture_output=True, text=True
    )
    found = probe(Host(environ={"TZ": value}))["python.timezone"].value

    assert (found == "UTC") is (done.stdout.split() == ["0", "0"])
    assert time.tzname


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("../usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("/usr/share/zoneinfo/posix/Europe/Berlin", "UTC"),
        ("/usr/share/zoneinfo/Etc/UTC", "UTC"),
    ],
)
def test_timezone_of_a_link(image: Image, target: str, expected: str) -> None:
    """The link's target names the zone; a dangling one means UTC."""
    image.link("/etc/localtime", target)

    assert timezone(image).value == expected


def test_timezone_of_a_copy(image: Image) -> None:
    """A copy is named by /etc/timezone if the data fit, else by the rule in the data."""
    image.write("/etc/localtime", ZONE)
    assert timezone(image).value == "CET-1CEST,M3.5.0,M10.5.0/3"

    image.write("/etc/timezone", "Europe/Berlin\n")
    assert timezone(image).value == "Europe/Berlin"
    image.write("/usr/share/zoneinfo/Europe/Berlin", "other data")
    assert timezone(image).value == "CET-1CEST,M3.5.0,M10.5.0/3"
    image.write("/etc/localtime", "no zone data")
    assert timezone(image).state == "unknown"


def test_timezone_without_any_file(image: Image, tmp_path: Path) -> None:
    """Without /etc/localtime local time is UTC; without /etc nothing is known."""
    assert timezone(image).value == "UTC"
    (tmp_path / "bare").mkdir()
    assert timezone(Image(tmp_path / "bare")).state == "unknown"


@pytest.mark.parametrize(
    ("suffix", "free_threaded", "debug"),
    [
        (".cpython-313-x86_64-linux-gnu.so", False, False),
        (".cpython-313t-x86_64-linux-gnu.so", True, False),
        (".cpython-313td-aarch64-linux-musl.so", True, True),
        (".cpython-311d-darwin.so", False, True),
        (".cp313t-win_amd64.pyd", True, False),
        (".cp39-win_amd64.pyd", False, False),
        (".abi3.so", None, None),
        (None, None, None),
    ],
)
def test_abi_of_an_image(suffix: str | None, free_threaded: object, debug: object) -> None:
    """The suffix of compiled modules tells the build; without one nothing is claimed."""
    interpreter = Interpreter("3.13.1", "cpython", "cpython-313", suffix, ("/x",), home="/x")
    facts = probe(Host("/", live=False, interpreter=interpreter))

    assert facts["python.free_threaded"].value is free_threaded
    assert facts["python.debug_build"].value is debug
    assert facts["python.ext_suffix"].state == ("unknown" if suffix is None else "ok")


def test_image(image: Image) -> None:
    """Of an image the files are told, and how it would be started is unknown."""
    image.python("/usr/local", 11)
    image.venv("/opt/venv", 11, "/usr/local/bin")
    facts = probe(image.host())

    known = {key: fact.value for key, fact in facts.items() if fact.is_ok}
    assert known == {
        "python.version": "3.11.0",
        "python.implementation": "cpython",
        "python.cache_tag": "cpython-311",
        "python.ext_suffix": ".cpython-311-x86_64-linux-gnu.so",
        "python.free_threaded": False,
        "python.debug_build": False,
        "python.environment": "venv",
        "python.timezone": "UTC",
    }
    assert all(fact.reason for fact in facts.values() if not fact.is_ok)


@pytest.mark.parametrize("live", [True, False])
def test_every_key_in_every_case(live: bool, tmp_path: Path) -> None:
    """All declared keys are there, sorted, on a live host and on an empty root."""
    facts = probe(Host() if live else Host(str(tmp_path)))

    assert list(facts) == sorted(keys_of("python"))
    assert repr(facts) == repr(probe(Host() if live else Host(str(tmp_path))))
