"""Capturing another interpreter: the same answer as from within, and clear refusals."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
import zipfile
from typing import TYPE_CHECKING

import pytest

from envcheck.errors import InputError
from envcheck.probing.other import capture_other
from tests.wheels import install

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Interpreters

NATIVE = """
import json, sys
sys.path.insert(0, {root!r})
import envcheck
envcheck.__path__.append({root!r})
import envcheck.catalogue, envcheck.probing.run
from envcheck.probing.host import Host
from importlib import import_module
names = envcheck.probing.run.builtin_probes()
for name in names:
    import_module("envcheck.probes." + name)
sys.path.remove({root!r})
facts = envcheck.probing.run.run_probes(Host())
print(json.dumps({{key: fact.to_json() for key, fact in facts.items()}}))
"""


def native(python: Path, root: Path, cwd: Path) -> dict[str, object]:
    """Capture from within an interpreter, our checkout being on its path for the import only."""
    done = subprocess.run(
        [str(python), "-B", "-c", NATIVE.format(root=str(root))],
        cwd=cwd, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts: dict[str, object] = json.loads(done.stdout)
    return facts


def other(python: Path | str, timeout: float = 60) -> dict[str, object]:
    """Capture from outside."""
    facts = capture_other(str(python), timeout=timeout)
    return {key: fact.to_json() for key, fact in facts.items()}


def script(path: Path, text: str) -> Path:
    """Write an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("minor", ["3.9", "3.10", "3.11", "3.12", "3.13"])
def test_the_same_as_from_within(
    minor: str, interpreters: Interpreters, root: Path, tmp_path: Path
) -> None:
    """Every fact equals that of a capture from within that interpreter."""
    found = other(interpreters[minor])

    assert found == native(interpreters[minor], root, tmp_path)
    assert str(found["python.version"]).count(f"'{minor}.") == 1


@pytest.fixture
def venv(interpreters: Interpreters, tmp_path: Path) -> Path:
    """Return a virtual environment without pip that holds one distribution."""
    python = interpreters["3.12"]
    place = tmp_path / "venv"
    subprocess.run([str(python), "-m", "venv", "--without-pip", str(place)], check=True)
    install(place / "lib/python3.12/site-packages", "demo", "1.0", files={"demo/__init__.py": ""})
    return place


def site_packages(venv: Path) -> Path:
    """Return its package folder."""
    return venv / "lib/python3.12/site-packages"


def test_a_venv_without_pip(venv: Path) -> None:
    """Its packages are its own alone, nothing of ours among them, and nothing is written."""
    before = sorted(str(path) for path in venv.rglob("*"))
    found = other(venv / "bin/python")

    assert [key for key in found if key.startswith("package.")] == ["package.demo"]
    assert found["python.environment"] == {"state": "ok", "value": "venv"}
    assert found["python.path_extras"] == {"state": "ok", "value": 0}
    assert sorted(str(path) for path in venv.rglob("*")) == before


def test_its_variables_are_honoured(
    venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONPATH, PYTHONHASHSEED and PYTHONOPTIMIZE act as they would; cwd does not matter."""
    extra = tmp_path / "extra"
    install(extra, "more", "2.0")
    (extra / "json.py").write_text("raise SystemExit('not the standard library')")
    shadow = tmp_path / "cwd"
    shadow.mkdir()
    (shadow / "importlib.py").write_text("raise SystemExit('not the standard library')")
    (extra / "json.py").unlink()
    for name, value in (
        ("PYTHONPATH", str(extra)), ("PYTHONHASHSEED", "7"), ("PYTHONOPTIMIZE", "2"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(shadow)
    found = other(venv / "bin/python")

    assert "package.more" in found
    assert found["python.hash_seed"] == {"state": "ok", "value": "7"}
    assert found["python.optimize"] == {"state": "ok", "value": 2}
    assert found["python.path_extras"] == {"state": "ok", "value": 1}


def test_an_entry_that_is_the_current_folder_counts(
    venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONPATH may name the current folder; that is not the entry that `-c` adds."""
    here = tmp_path / "here"
    install(here, "more", "2.0")
    monkeypatch.chdir(here)
    assert "package.more" not in other(venv / "bin/python")

    monkeypatch.setenv("PYTHONPATH", str(here))
    assert "package.more" in other(venv / "bin/python")


def test_start_up_code_that_prints(venv: Path) -> None:
    """Whatever sitecustomize writes, replaces or registers, the answer arrives."""
    (site_packages(venv) / "sitecustomize.py").write_text(
        textwrap.dedent(
            """
            import atexit, io, sys
            print("hello", '{"facts": {}}')
            sys.stderr.write("noise\\n")
            atexit.register(lambda: print("bye"))
            sys.stdout = io.StringIO()
            """
        )
    )

    assert "package.demo" in other(venv / "bin/python")


def test_another_envcheck_in_the_target(venv: Path) -> None:
    """A package of that name in the target is neither imported nor in the way."""
    stranger = site_packages(venv) / "envcheck"
    stranger.mkdir()
    (stranger / "__init__.py").write_text("raise SystemExit('the stranger was imported')")

    assert "package.demo" in other(venv / "bin/python")


def test_plug_in_probes_of_the_target(venv: Path) -> None:
    """Probes that the target's own distributions bring are run, with our modules."""
    place = site_packages(venv)
    entry = "[envcheck.probes]\nextra = plug:probe\n"
    info = install(place, "plug", "1", files={
        "plug.py": "from envcheck.facts import ok\ndef probe(host): return {'plug.x': ok(1)}\n",
    })  # fmt: skip
    (info / "entry_points.txt").write_text(entry)

    assert other(venv / "bin/python")["plug.x"] == {"state": "ok", "value": 1}


def test_by_name(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare name is looked up on PATH."""
    monkeypatch.setenv("PATH", str(venv / "bin"))

    assert "package.demo" in other("python")


def test_from_a_zipapp(venv: Path, root: Path, tmp_path: Path) -> None:
    """The same works when we run from an archive."""
    archive = tmp_path / "envcheck.pyz"
    main = (
        "import json, sys\nfrom envcheck.probing.other import capture_other\n"
        "facts = capture_other(sys.argv[1])\n"
        "print(json.dumps({key: fact.to_json() for key, fact in facts.items()}))\n"
    )
    with zipfile.ZipFile(archive, "w") as file:
        for folder in ("envcheck", "probes"):
            for path in sorted((root / folder).rglob("*.py")):
                inner = path.relative_to(root)
                file.write(path, inner if folder == "envcheck" else f"envcheck/{inner}")
        file.writestr("__main__.py", main)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(archive), str(venv / "bin/python")],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == other(venv / "bin/python")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: path, "does not exist"),
        (lambda path: path.mkdir() or path, "is a folder"),
        (lambda path: path.touch() or path, "is not executable"),
        (lambda path: script(path, "exit 0"), "like a Python program (exit code 0)"),
        (lambda path: script(path, "echo oops >&2; exit 3"), "it said: oops"),
        (lambda path: script(path, "kill -SEGV $$"), "was ended by SIGSEGV"),
        (lambda path: script(path, 'echo "$4{\\"facts\\": 1}$4"'), "is no capture"),
        (lambda path: script(path, 'echo "$4{\\"facts\\": {\\"a.b\\": {}}}$4"'), "is no capture"),
        (lambda path: script(path, 'echo "$4[nonsense$4"'), "does not behave like a Python"),
        (lambda path: script(path, "head -c 100000 /dev/urandom"), "does not behave like a Python"),
        (lambda path: script(path, 'printf "\\033]0;x\\007 bad" >&2; exit 1'), "said: ?]0;x? bad"),
    ],
)  # fmt: skip
def test_refusals(make: object, problem: str, tmp_path: Path) -> None:
    """What cannot be captured is said in one message that names the program."""
    assert callable(make)
    path = make(tmp_path / "python")

    with pytest.raises(InputError) as caught:
        capture_other(str(path), timeout=30)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_not_a_program(tmp_path: Path) -> None:
    """A file with the right permission that the system cannot run."""
    path = tmp_path / "python"
    path.write_bytes(b"\x00\x01\x02")
    path.chmod(0o755)

    with pytest.raises(InputError, match="cannot be started"):
        capture_other(str(path))


def test_not_on_path() -> None:
    """A bare name that PATH does not have."""
    with pytest.raises(InputError, match="is not on PATH"):
        capture_other("no-such-python-anywhere")


@pytest.mark.parametrize("version", ["3.8", "2.7"])
def test_too_old(version: str) -> None:
    """Python 3.8 and 2.7 are refused in one line, not with a traceback of theirs."""
    found = [path for path in _old_ones(version) if path]
    if not found:
        pytest.skip(f"no Python {version} here")

    with pytest.raises(InputError) as caught:
        capture_other(found[0])
    assert f"is Python {version}." in str(caught.value)


def _old_ones(version: str) -> list[str]:
    from pathlib import Path

    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return [str(path) for path in root.glob(f"versions/{version}.*/bin/python")]


def test_a_crash_inside(venv: Path) -> None:
    """A target whose start-up fails is told by its last line."""
    (site_packages(venv) / "zlib_gone.pth").write_text("import os; os._exit(9)\n")

    with pytest.raises(InputError, match=r"exit code 9"):
        capture_other(str(venv / "bin/python"))


def test_one_that_hangs(tmp_path: Path) -> None:
    """After the time limit the program and its children are ended."""
    marker = tmp_path / "still-running"
    path = script(tmp_path / "python", f"(sleep 4; touch {marker}) & sleep 60")
    started = time.monotonic()

    with pytest.raises(InputError, match="within 1 seconds"):
        capture_other(str(path), timeout=1)
    assert time.monotonic() - started < 30
    if shutil.which("pgrep"):
        children = subprocess.run(
            ["pgrep", "-f", str(marker)], capture_output=True, text=True, timeout=10
        )
        assert children.stdout == ""
