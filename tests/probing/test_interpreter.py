"""Finding the interpreter: the running one, and those in images, by their files alone."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest

from envcheck.probing.images import installations
from envcheck.probing.interpreter import Interpreter, interpreter_at, live_interpreter
from tests.images import Image

if TYPE_CHECKING:
    from pathlib import Path

PATCHLEVEL = '#define PY_MINOR_VERSION 11\n#define PY_VERSION      \t"3.11.9"\n'


@pytest.fixture
def image(tmp_path: Path) -> Image:
    """Return an empty image."""
    return Image(tmp_path / "root")


def names(interpreter: Interpreter, image: Image) -> list[str | None]:
    """Return the distributions that are found for an interpreter of an image."""
    host = image.host()
    host._interpreter = interpreter
    return [dist.name for dist in host.distributions]


def test_python_slim(image: Image) -> None:
    """The layout of python:3.11-slim, with a Debian python3 that nobody asked for."""
    image.python("/usr/local", 11)
    image.python("/usr", 13)
    image.write("/usr/local/include/python3.11/patchlevel.h", PATCHLEVEL)
    image.package("/usr/local/lib/python3.11/site-packages", "numpy")
    image.package("/usr/lib/python3/dist-packages", "reportbug")

    assert image.host().interpreter == Interpreter(
        version="3.11.9",
        implementation="cpython",
        cache_tag="cpython-311",
        ext_suffix=".cpython-311-x86_64-linux-gnu.so",
        path=(
            "/usr/local/lib/python3.11",
            "/usr/local/lib/python3.11/lib-dynload",
            "/usr/local/lib/python3.11/site-packages",
        ),
        home="/usr/local/lib/python3.11",
        kind="system",
    )
    assert [dist.name for dist in image.host().distributions] == ["numpy"]


def test_debian(image: Image) -> None:
    """Debian's own python3: dist-packages, local ones first, the version from dpkg."""
    image.python("/usr", 11)
    image.write("/usr/bin/other")
    image.package("/usr/lib/python3/dist-packages", "six")
    image.package("/usr/local/lib/python3.11/dist-packages", "torch")
    image.write(
        "/var/lib/dpkg/status",
        "Package: python3\nVersion: 3.11.2-1+b1\n\nPackage: python3.11-minimal\n"
        "Status: install ok installed\nVersion: 3.11.2-6+deb12u3\n\n",
    )
    found = image.host().interpreter

    assert (found.version, found.home) == ("3.11.2", "/usr/lib/python3.11")
    assert names(found, image) == ["torch", "six"]


def test_distroless(image: Image) -> None:
    """Distroless images keep one dpkg record per package, and have no shell."""
    image.python("/usr", 11)
    image.write(
        "/var/lib/dpkg/status.d/python3.11-minimal",
        "Package: python3.11-minimal\nVersion: 3.11.2-6\n",
    )

    assert image.host().interpreter.version == "3.11.2"


def test_alpine(image: Image) -> None:
    """Alpine: the suffix tells musl, apk tells the version."""
    image.python("/usr", 12, "x86_64-linux-musl")
    image.write("/lib/apk/db/installed", "C:Q1\nP:musl\nV:1.2.5-r0\n\nP:python3\nV:3.12.8-r1\n\n")
    image.package("/usr/lib/python3.12/site-packages", "pip")
    found = image.host().interpreter

    assert found.version == "3.12.8"
    assert found.ext_suffix == ".cpython-312-x86_64-linux-musl.so"
    assert names(found, image) == ["pip"]


@pytest.mark.parametrize("system", [False, True])
def test_venv(image: Image, system: bool) -> None:
    """A venv below /opt wins over its base; the base's packages count if the venv says so."""
    image.python("/usr/local", 11)
    image.write("/usr/local/include/python3.11/patchlevel.h", PATCHLEVEL)
    image.venv("/opt/venv", 11, "/usr/local/bin", system=system)
    image.package("/opt/venv/lib/python3.11/site-packages", "keras")
    image.package("/usr/local/lib/python3.11/site-packages", "pip")
    found = image.host().interpreter

    assert (found.kind, found.version) == ("venv", "3.11.9")
    assert found.home == "/opt/venv/lib/python3.11"
    assert found.ext_suffix == ".cpython-311-x86_64-linux-gnu.so"
    assert names(found, image) == (["keras", "pip"] if system else ["keras"])


def test_venv_whose_base_is_absent(image: Image) -> None:
    """A venv copied without its interpreter still tells its version and packages."""
    image.venv("/app/.venv", 12, "/opt/uv/python/cpython-3.12/bin")
    image.package("/app/.venv/lib/python3.12/site-packages", "fastapi")
    found = image.host().interpreter

    assert (found.version, found.ext_suffix, found.kind) == ("3.12.0", None, "venv")
    assert names(found, image) == ["fastapi"]


def test_conda(image: Image) -> None:
    """Conda: the version and the kind come from conda-meta."""
    image.python("/opt/conda", 10)
    image.write("/opt/conda/conda-meta/python-3.10.14-h955ad1f_1.json", "{}")
    image.package("/opt/conda/lib/python3.10/site-packages", "conda")
    found = image.host().interpreter

    assert (found.version, found.kind) == ("3.10.14", "conda")
    assert names(found, image) == ["conda"]


def test_absolute_links_stay_inside(image: Image, tmp_path: Path) -> None:
    """A link to /opt/real means the image's own /opt/real; one with .. does not climb out."""
    image.python("/opt/real", 11)
    image.package("/opt/real/lib/python3.11/site-packages", "inside")
    image.link("/usr/lib/python3.11", "/opt/real/lib/python3.11")
    outside = tmp_path / "outside/lib/python3.11"
    outside.mkdir(parents=True)
    (outside / "os.py").touch()
    image.link("/usr/local/lib", "../../../../outside/lib")
    image.link("/opt/venv", str(tmp_path / "outside"))

    assert [found.home for found in installations(image.host())] == ["/usr/lib/python3.11"]
    assert names(image.host().interpreter, image) == ["inside"]


def test_links_that_loop(image: Image) -> None:
    """Links in a circle are passed over."""
    image.link("/usr/lib", "/usr/lib64")
    image.link("/usr/lib64", "/usr/lib")
    image.link("/opt/venv", "venv")

    assert image.host().interpreter.problem


def test_lib64_is_counted_once(image: Image) -> None:
    """Fedora and venvs have lib64 beside or as a link to lib."""
    image.python("/usr", 12)
    image.package("/usr/lib64/python3.12/site-packages", "numpy")
    image.package("/usr/lib/python3.12/site-packages", "six")

    assert sorted(map(str, names(image.host().interpreter, image))) == ["numpy", "six"]


def test_several(image: Image) -> None:
    """The likeliest comes first; variables of the image, where known, decide."""
    image.python("/usr", 11)
    image.python("/usr/local", 12)
    image.python("/opt/python3.13", 13)
    homes = [found.home for found in installations(image.host())]

    assert homes == [
        "/opt/python3.13/lib/python3.13",
        "/usr/local/lib/python3.12",
        "/usr/lib/python3.11",
    ]
    for environ, home in (
        ({}, homes[0]),
        ({"PATH": "/usr/bin:/usr/local/bin"}, homes[2]),
        ({"PATH": "/nowhere:/usr/local/bin"}, homes[1]),
        ({"VIRTUAL_ENV": "/usr", "PATH": "/usr/local/bin"}, homes[2]),
    ):
        assert image.host(environ).interpreter.home == home


@pytest.mark.parametrize(
    ("executable", "home"),
    [
        ("/usr/bin/python3.11", "/usr/lib/python3.11"),
        ("/usr/bin/python3.12", "/usr/lib/python3.12"),
        ("/usr/bin/python3", "/usr/lib/python3.12"),
        ("/opt/venv/bin/python", "/opt/venv/lib/python3.11"),
        ("/link", "/usr/lib/python3.11"),
    ],
)
def test_by_executable(image: Image, executable: str, home: str) -> None:
    """The executable decides, through links inside the image; a venv's link is not followed."""
    image.python("/usr", 12)
    image.write("/usr/lib/python3.11/os.py")
    image.write("/usr/bin/python3.11", "\x7fELF")
    image.venv("/opt/venv", 11, "/usr/bin")
    image.link("/link", "/usr/bin/python3.11")
    found = interpreter_at(image.host(), executable)

    assert (found.problem, found.home) == ("", home)


def test_executables_that_are_none(image: Image) -> None:
    """What is absent, or is no Python, is said."""
    image.write("/usr/bin/true")

    assert "does not exist" in interpreter_at(image.host(), "/usr/bin/python3").problem
    assert "no standard library" in interpreter_at(image.host(), "/usr/bin/true").problem


def test_local_dist_packages_are_no_interpreter(image: Image) -> None:
    """/usr/local/lib/python3.11 with packages alone belongs to /usr/lib/python3.11."""
    image.package("/usr/local/lib/python3.11/dist-packages", "torch")
    assert image.host().interpreter.problem

    image.python("/usr", 11)
    assert image.host().interpreter.home == "/usr/lib/python3.11"


def test_pth_files(image: Image) -> None:
    """Folders named in .pth files are on the path; their code is not run."""
    image.python("/usr/local", 11)
    site = "/usr/local/lib/python3.11/site-packages"
    image.write(f"{site}/a.pth", "# no\nimport os; os.abort()\n/srv/project\n/absent\nvendored\n")
    image.package("/srv/project", "project")
    image.package(f"{site}/vendored", "vendored")

    assert sorted(map(str, names(image.host().interpreter, image))) == ["project", "vendored"]


def test_a_version_that_cannot_be_right_is_unknown(image: Image) -> None:
    """A record of another minor version is not believed."""
    image.python("/usr/local", 12)
    image.write("/usr/local/include/python3.12/patchlevel.h", PATCHLEVEL)

    assert image.host().interpreter.version is None


def test_an_empty_root(image: Image) -> None:
    """Without any Python there is a reason and no guess."""
    image.root.mkdir()
    found = image.host().interpreter

    assert (found.version, found.path) == (None, ())
    assert found.problem


def test_live() -> None:
    """The running interpreter says what sys and sysconfig say."""
    found = live_interpreter()

    assert found.version == sys.version.split()[0].rstrip("+")
    assert found.ext_suffix == sysconfig.get_config_var("EXT_SUFFIX")
    assert found.cache_tag == sys.implementation.cache_tag
    assert found.home == sysconfig.get_path("stdlib")
    assert sysconfig.get_path("purelib") in found.path


SHOW = (
    "import sys; sys.path.append({root!r}); from envcheck.probing.interpreter import "
    "live_interpreter as l; i = l(); print([p for p in i.path if p != {root!r}], i.extras - 1)"
)


@pytest.mark.parametrize("way", ["-c", "script", "module", "isolated", "safe", "zipapp"])
def test_the_way_of_starting_does_not_matter(way: str, tmp_path: Path, root: Path) -> None:
    """The script's folder, the current folder and a zipapp are no part of the environment."""
    code = SHOW.format(root=str(root))
    (tmp_path / "show.py").write_text(code)
    (tmp_path / "__main__.py").write_text(code)
    command = {
        "-c": ["-c", code],
        "script": ["show.py"],
        "module": ["-m", "show"],
        "isolated": ["-I", "-c", code],
        "safe": ["-P", "-c", code],
        "zipapp": [str(tmp_path)],
    }[way]
    printed = _python(*command, cwd=tmp_path)

    assert printed == _python("-I", "-c", code, cwd=tmp_path)


def test_extras(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PYTHONPATH entries that exist count as extras, each once; the others do not."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    code = SHOW.format(root=str(root)) + "; print(i.extras - 1)"
    before = int(_python("-c", code, cwd=tmp_path).splitlines()[-1])
    monkeypatch.setenv("PYTHONPATH", f"{one}:{two}:{one}:{tmp_path}/absent")

    assert int(_python("-c", code, cwd=tmp_path).splitlines()[-1]) == before + 2


def _python(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-B", *arguments], cwd=cwd, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
