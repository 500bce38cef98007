"""Each way to get envcheck gives one that does the main job, away from the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.packaging.conftest import Distributions, Installed, call, lend_packaging
from tools.build_pyz import build as build_pyz

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Interpreters

SYSTEM_PYTHON = Path("/usr/bin/python3")
NOBODY = 65534


def test_wheel(
    distributions: Distributions, fresh_venv: Callable[..., Path], tmp_path: Path
) -> None:
    """The wheel works in a fresh venv that has one of its dependencies, `packaging`."""
    scripts = fresh_venv(distributions.wheel)
    lend_packaging(scripts)

    Installed([scripts / "envcheck"], tmp_path / "away").works(distributions.tree)


def test_wheel_alone(
    distributions: Distributions, fresh_venv: Callable[..., Path], tmp_path: Path
) -> None:
    """With no dependency at all the wheel captures; a comparison works or says what is missing."""
    scripts = fresh_venv(distributions.wheel)
    installed = Installed([scripts / "envcheck"], tmp_path / "away")
    examples = distributions.tree / "examples"

    installed.has_probes()
    done = installed.run("compare", examples / "train.json", examples / "prod.json")
    if done.returncode != 1:
        assert done.returncode == 2, done.stderr
        assert "packaging" in done.stderr
        assert "hint: " in done.stderr


def test_module_run(
    distributions: Distributions, fresh_venv: Callable[..., Path], tmp_path: Path
) -> None:
    """`python -m envcheck` is the same command."""
    scripts = fresh_venv(distributions.wheel)

    Installed([scripts / "python", "-m", "envcheck"], tmp_path / "away").has_probes()


def test_nothing_leaks(
    distributions: Distributions, fresh_venv: Callable[..., Path], tmp_path: Path
) -> None:
    """An installed envcheck brings no top-level `probes`, `rules` or `tests`."""
    scripts = fresh_venv(distributions.wheel)
    code = "import importlib.util as u; print([n for n in %r if u.find_spec(n)])"
    names = ["probes", "rules", "tests", "tools", "benchmarks"]
    done = call([scripts / "python", "-I", "-c", code % names], cwd=tmp_path)

    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_wheel_with_its_dependencies(
    distributions: Distributions, fresh_venv: Callable[..., Path], tmp_path: Path
) -> None:
    """The wheel installs as a user installs it, with what it declares."""
    scripts = fresh_venv(distributions.wheel, offline=False)

    Installed([scripts / "envcheck"], tmp_path / "away").works(distributions.tree)


@pytest.mark.slow
def test_sdist(
    distributions: Distributions, fresh_venv: Callable[..., Path], tmp_path: Path
) -> None:
    """The sdist builds and installs in an isolated build environment."""
    scripts = fresh_venv(distributions.sdist, offline=False)

    Installed([scripts / "envcheck"], tmp_path / "away").works(distributions.tree)


@pytest.mark.slow
def test_editable(
    distributions: Distributions, fresh_venv: Callable[..., Path], tmp_path: Path
) -> None:
    """An editable install works, and sees a new probe file without a new install."""
    tree = tmp_path / "tree"
    shutil.copytree(distributions.tree, tree)
    scripts = fresh_venv("-e", tree, offline=False)
    installed = Installed([scripts / "envcheck"], tmp_path / "away")
    (tree / "probes" / "brand_new.py").write_text("", "utf-8")

    installed.works(tree)
    code = "import envcheck.probes.brand_new as new; print(new.__file__)"
    done = call([scripts / "python", "-I", "-c", code], cwd=tmp_path)
    assert done.stdout.strip() == str(tree / "probes" / "brand_new.py")


@pytest.fixture
def pyz(distributions: Distributions) -> Iterator[Path]:
    """Return the zipapp in a folder that every user may read."""
    with tempfile.TemporaryDirectory(prefix="envcheck-pyz-") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "envcheck.pyz"
        path.write_bytes(build_pyz(distributions.wheel))
        path.chmod(0o755)
        yield path


def test_pyz(pyz: Path, distributions: Distributions, tmp_path: Path) -> None:
    """The zipapp does the main job with the standard library alone."""
    command: list[str | Path] = [sys.executable, "-I", "-S", pyz]

    Installed(command, tmp_path / "away").works(distributions.tree)


def test_pyz_does_not_count_itself(pyz: Path, tmp_path: Path) -> None:
    """A capture by the zipapp sees no envcheck among the installed distributions."""
    path = Installed([sys.executable, "-I", "-S", pyz], tmp_path / "away").has_probes()

    assert "package.ml-envcheck" not in json.loads(path.read_text("utf-8"))["facts"]


@pytest.mark.parametrize("minor", ["3.9", "3.10"])
def test_pyz_captures_under_an_older_python(
    minor: str, pyz: Path, interpreters: Interpreters, tmp_path: Path
) -> None:
    """A Python too old for the comparison still captures; asked to compare, it exits 2."""
    installed = Installed([interpreters[minor], "-I", "-S", pyz], tmp_path / "away")
    path = installed.has_probes()
    done = installed.run("compare", path, path)

    assert done.returncode == 2
    assert "3.11" in done.stderr


def test_pyz_refuses_an_ancient_python(pyz: Path, interpreters: Interpreters) -> None:
    """Under a Python that is too old for anything the zipapp says so and exits 2, never 1."""
    done = subprocess.run(
        [interpreters["3.8"], pyz, "--version"], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 2
    assert "Python 3.8 is too old" in done.stderr


@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="no Python of the distribution")
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root becomes nobody")
def test_pyz_as_nobody_on_a_read_only_file_system(pyz: Path) -> None:
    """The distribution's Python runs the zipapp as nobody, with nowhere to write."""
    _need_a_mount_namespace()
    script = (
        "mount --make-rprivate / && mount -o remount,ro,bind / && mount -o remount,ro,bind /tmp "
        "2>/dev/null; cd / && ! touch /tmp/x 2>/dev/null && "
        f"exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups "
        f"env -i {SYSTEM_PYTHON} {pyz} capture"
    )
    done = call(["unshare", "--mount", "sh", "-c", script])

    assert json.loads(done.stdout)["facts"]["python.version"]["state"] == "ok"


def _need_a_mount_namespace() -> None:
    """Skip where this machine does not let us make a file system read-only."""
    tools = all(shutil.which(tool) for tool in ("unshare", "setpriv", "mount"))
    trial = ["unshare", "--mount", "sh", "-c", "mount -o remount,ro,bind /"]
    if not tools or subprocess.run(trial, capture_output=True).returncode != 0:
        pytest.skip("this machine allows no mount namespace")
