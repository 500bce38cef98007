"""The native probe: which distribution brings which BLAS and OpenMP, from names alone."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from envcheck.catalogue import keys_of
from envcheck.probing.host import Host
from envcheck.probing.interpreter import Interpreter
from tests.images import Image
from tests.wheels import install

if TYPE_CHECKING:
    from pathlib import Path

    from envcheck.facts import Facts

probe = import_module("envcheck.probes.native").probe

# As numpy 2.x and scipy write it, cut to what matters.
CONFIG = """
CONFIG = _cleanup({
    "Compilers": {"c": {"name": "gcc", "linker": r"ld.bfd", "version": "14.2.1"}},
    "Build Dependencies": {
        "blas": {
            "name": "scipy-openblas",
            "found": bool("True".lower().replace('false', '')),
            "version": "0.3.29",
            "detection method": "pkgconfig",
        },
        "lapack": {"name": "scipy-openblas", "version": "9.9.9"},
    },
})
"""


def look(folder: Path) -> Facts:
    """Run the probe on one package folder."""
    interpreter = Interpreter("3.11.7", "cpython", "cpython-311", ".so", (str(folder),))
    facts: Facts = probe(Host(interpreter=interpreter))
    return facts


def entries(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the BLAS and OpenMP entries."""
    facts = look(folder)
    return facts["native.blas"].value, facts["native.openmp"].value


@pytest.mark.parametrize(
    ("name", "file", "blas"),
    [
        ("numpy", "numpy.libs/libopenblas64_p-r0-0cf96a72.3.23.dev.so", ("openblas", "0.3.23.dev")),
        ("numpy", "numpy.libs/libopenblasp-r0-2d23e62b.3.17.so", ("openblas", "0.3.17")),
        ("scipy", "scipy/.dylibs/libopenblas.0.dylib", ("openblas", "")),
        ("numpy", "numpy.libs/libscipy_openblas64_-99b71e71.so", ("openblas", "")),
        ("opencv-python", "opencv.libs/libopenblas-r0-f650aae0.3.3.so", ("openblas", "0.3.3")),
        ("mkl", "../../../libmkl_rt.so.2", ("mkl", "1.0")),
        ("mkl", "../../Library/bin/mkl_rt.2.dll", ("mkl", "1.0")),
        ("x", "x.libs/libblis-4a.so.4", ("blis", "")),
    ],
)  # fmt: skip
def test_blas(tmp_path: Path, name: str, file: str, blas: tuple[str, str]) -> None:
    """The library, and the version where the file name or an own wheel tells it."""
    install(tmp_path, name, "1.0", RECORD=f"{file},sha256=x,1\nx.so,,\n")
    library, version = blas
    expected = {"package": name, "library": library} | ({"version": version} if version else {})

    host = Host(interpreter=Interpreter("3", "cpython", "", "", (str(tmp_path),)))
    host.system = {"dll": "win32", "lib": "darwin"}.get(file[-3:], "linux")
    assert probe(host)["native.blas"].value == [expected]


def test_blas_version_of_the_build_record(tmp_path: Path) -> None:
    """Numpy's and scipy's own build record tells the version, without being imported."""
    record = "numpy.libs/libscipy_openblas64_-ff651d7f.so,sha256=x,1\n"
    install(tmp_path, "numpy", "2.2", RECORD=record)
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy/__config__.py").write_text(CONFIG)

    assert entries(tmp_path)[0] == [
        {"package": "numpy", "library": "openblas", "version": "0.3.29"}
    ]


@pytest.mark.parametrize(
    ("blas", "expected"),
    [
        ('"name": "accelerate", "version": "unknown"', [{"library": "accelerate"}]),
        ('"name": "mkl-sdl", "version": "2024.0"', [{"library": "mkl", "version": "2024.0"}]),
        ('"name": "blas", "version": "3.9.0"', []),
        ('"name": "", "version": ""', []),
        ('"name": "open\nblas"', []),
    ],
)
def test_blas_that_is_not_bundled(
    tmp_path: Path, blas: str, expected: list[dict[str, str]]
) -> None:
    """Without a bundled library the build record names it, if it names a real one."""
    install(tmp_path, "numpy", "2.2", RECORD="numpy/__config__.py,,\n")
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy/__config__.py").write_text('{"blas": {' + blas + ', "found": True}}')

    assert entries(tmp_path)[0] == [{"package": "numpy", **entry} for entry in expected]


@pytest.mark.parametrize(
    ("name", "file", "library"),
    [
        ("scikit-learn", "scikit_learn.libs/libgomp-a34b3233.so.1.0.0", "libgomp"),
        ("torch", "torch/lib/libgomp-98b21ff3.so.1", "libgomp"),
        ("torch", "torch/lib/libiomp5.so", "libiomp5"),
        ("intel-openmp", "../../../libiomp5.so", "libiomp5"),
        ("xgboost", "xgboost.libs/libomp-1.so.5", "libomp"),
        ("x", "x/libompl.so", None),
        ("x", "x/libompi.so", None),
        ("x", "docs/libgomp.so.txt", None),
    ],
)
def test_openmp(tmp_path: Path, name: str, file: str, library: str | None) -> None:
    """Each runtime by its file name; look-alikes are none."""
    install(tmp_path, name, "1.0", RECORD=f"{file},sha256=x,1\n")

    assert entries(tmp_path)[1] == ([{"package": name, "library": library}] if library else [])


def test_two_runtimes(tmp_path: Path) -> None:
    """Two runtimes are two entries, sorted by package."""
    install(tmp_path, "torch", "2", RECORD="torch/lib/libiomp5.so,,\ntorch/lib/libgomp-1.so.1,,\n")
    install(tmp_path, "scikit-learn", "1", RECORD="a.libs/libgomp-a.so.1.0.0,,\n")

    assert entries(tmp_path)[1] == [
        {"package": "scikit-learn", "library": "libgomp"},
        {"package": "torch", "library": "libgomp"},
        {"package": "torch", "library": "libiomp5"},
    ]


def test_conda(tmp_path: Path) -> None:
    """Conda's libraries are no Python distributions; its own records name them."""
    image = Image(tmp_path)
    image.python("/opt/conda", 11)
    image.package("/opt/conda/lib/python3.11/site-packages", "numpy")
    for name in ("libopenblas-0.3.21-h043d6bf_0", "llvm-openmp-14.0.6-h9e868ea_0",
                 "libgomp-11.2.0-h1234567_1", "python-3.11.5-h955ad1f_0", "history"):  # fmt: skip
        image.write(f"/opt/conda/conda-meta/{name}.json")
    facts = probe(image.host())

    assert facts["native.blas"].value == [
        {"package": "libopenblas", "library": "openblas", "version": "0.3.21"}
    ]
    assert facts["native.openmp"].value == [
        {"package": "libgomp", "library": "libgomp"},
        {"package": "llvm-openmp", "library": "libomp"},
    ]


def test_every_key_in_every_case(tmp_path: Path) -> None:
    """Nothing found is an empty list; no interpreter is unknown."""
    assert entries(tmp_path) == ([], [])
    facts = probe(Host(str(tmp_path)))

    assert sorted(facts) == sorted(keys_of("native"))
    assert {fact.state for fact in facts.values()} == {"unknown"}
