"""Native libraries and the host they need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from envcheck.comparing.compare import compare_fingerprints
from tests.comparing.making import made, package
from tests.comparing.test_variables import loudness

AVX512 = ["avx", "avx2", "avx512f"]


def blas(version: str, owner: str = "numpy") -> dict[str, Any]:
    """Return the facts of a side with one OpenBLAS on a processor with AVX-512."""
    return {
        "native.blas": [{"package": owner, "library": "openblas", "version": version}],
        "cpu.features": AVX512,
        "env.OPENBLAS_CORETYPE": None,
    }


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        (blas("0.3.5.dev"), "error"),
        (blas("0.3.7.dev"), "error"),
        (blas("0.3.7"), ""),
        (blas("0.3.23.dev"), ""),
        (blas("0.3.3", "opencv-python-headless"), ""),
        ({**blas("0.3.5"), "cpu.features": ["avx2"]}, ""),
        ({**blas("0.3.5"), "env.OPENBLAS_CORETYPE": "haswell"}, ""),
        ({**blas("0.3.5"), "env.OPENBLAS_CORETYPE": "skylakex"}, "error"),
    ],
)
def test_withdrawn_kernels(facts: dict[str, Any], outcome: str) -> None:
    """Only numpy's and scipy's own copy on AVX-512, with no other kernels chosen."""
    train = made({**facts, "cpu.features": ["avx2"]}, numpy="1.16.4")

    assert loudness("ENV130", train, made(facts, numpy="1.16.4")) == outcome


@pytest.mark.parametrize(
    ("created", "version", "outcome"),
    [
        ("2026-10-01T00:00:00Z", "3.10.13", ""),
        ("2026-10-02T00:00:00Z", "3.10.13", "info"),
        ("2026-11-30T00:00:00Z", "3.11.7", ""),
        ("2031-01-01T00:00:00Z", "3.11.7", "info"),
        ("2026-11-30T00:00:00Z", "2.7.18", ""),
        ("some day", "3.9.18", ""),
        ("", "3.9.18", ""),
    ],
)
def test_end_of_life_goes_by_the_day_of_the_capture(
    created: str, version: str, outcome: str
) -> None:
    """The envelope tells the day, not the clock of the machine that compares."""
    deploy = replace(made({"python.version": version}), envelope={"created": created})

    assert loudness("ENV136", made({}), deploy) == outcome


def test_opencv_of_conda_is_not_judged() -> None:
    """Conda brings the library along, outside the folders that the probe looks at."""
    facts: dict[str, Any] = {"os.system_libraries": []}
    wheel = package("4.10.0.84", tag="cp37-abi3-manylinux_2_17_x86_64")
    conda = package("4.10.0", tag=None)

    assert loudness("ENV133", made({}), made(facts, opencv_python=wheel)) == "error"
    assert loudness("ENV133", made({}), made(facts, opencv_python=conda)) == ""


def test_the_cause_comes_before_the_change_of_numpy() -> None:
    """A package built for numpy 1 accounts for the warning about numpy's major version."""
    train = made({}, onnxruntime="1.18.1", numpy="1.26.4")
    report = compare_fingerprints(train, made({}, onnxruntime="1.18.1", numpy="2.1.0"))
    change = next(one for one in report.findings if one.rule == "ENV042")

    assert report.findings[0].rule == "ENV134"
    assert change.explained_by == "ENV134 package.onnxruntime"
