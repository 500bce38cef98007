"""Which finding accounts for which: the cause comes first, and names what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from envcheck.rulebook.cases import patched
from tests.rules.reading import cases, report

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.rulebook.cases import Case

SKLEARN = next(case.pair for case in cases() if case.name == "the captured pair as it is")
Patch = dict[str, Any]


def version(text: str) -> Patch:
    """Return the patch of a package's version."""
    return {"value": {"version": text}}


def new(text: str, *requires: str) -> Patch:
    """Return a package that the base pair does not have."""
    value = {"version": text, "tag": "py3-none-any", "requires": list(requires)}
    return {"state": "ok", "value": value}


@pytest.mark.parametrize(
    ("train", "deploy", "cause", "effect"),
    [
        ({}, {"package.scikit-learn": None}, "ENV001 python.packages",
         ("ENV050", "package.scikit-learn")),
        ({}, {"package.scikit-learn": None, "package.pandas": None}, "ENV001 python.packages",
         ("ENV051", "package.pandas")),
        ({}, {"package.numpy": None}, "ENV050 package.numpy", ("ENV052", "package.numpy")),
        ({"package.shapely": new("2.0.6", "pillow")},
         {"package.xgboost": new("2.1.1", "pillow"), "package.pillow": None},
         "ENV052 package.pillow", ("ENV051", "package.pillow")),
        ({}, {"package.threadpoolctl": None}, "ENV052 package.threadpoolctl",
         ("ENV059", "package.threadpoolctl")),
        ({}, {"package.numpy": version("2.3.1")}, "ENV053 package.numpy",
         ("ENV042", "package.numpy")),
        ({"package.h5py": new("2.10.0")},
         {"package.h5py": new("3.1.0"), "package.xgboost": new("2.1.1", "h5py<3")},
         "ENV053 package.h5py", ("ENV043", "package.h5py")),
        ({}, {"package.threadpoolctl": version("2.0.0")}, "ENV053 package.threadpoolctl",
         ("ENV058", "package.threadpoolctl")),
        ({"package.numpy": version("2.1.0")}, {"package.numpy": version("1.24.4")},
         "ENV036 package.numpy", ("ENV042", "package.numpy")),
        ({}, {"os.libc_family": {"value": "musl"}}, "ENV062 package.cffi",
         ("ENV011", "os.libc_family")),
        ({}, {"python.version": {"value": "3.12.4"}}, "ENV060 package.cffi",
         ("ENV070", "python.version")),
        ({}, {"cpu.architecture": {"value": "aarch64"}}, "ENV061 package.cffi",
         ("ENV020", "cpu.architecture")),
    ],
)  # fmt: skip
def test_the_cause(train: Patch, deploy: Patch, cause: str, effect: tuple[str, str]) -> None:
    """The effect names its cause, and stands behind it."""
    found = judged(train, deploy)
    rank = {f"{item.rule} {item.subject}": item.rank for item in reversed(found.findings)}
    about = [item for item in found.findings if (item.rule, item.subject) == effect]

    assert about
    assert {item.explained_by for item in about} == {cause}
    assert rank[cause] < min(item.rank for item in about)


@pytest.mark.parametrize(
    ("train", "deploy", "alone"),
    [
        # Nothing else is wrong with the wheels, or with what requires numpy.
        ({"python.version": {"value": "3.10.13"}}, {}, ("ENV070", "python.version")),
        ({"cpu.architecture": {"value": "aarch64"}}, {}, ("ENV020", "cpu.architecture")),
        ({"os.libc_family": {"value": "musl"}}, {}, ("ENV011", "os.libc_family")),
        ({}, {"package.numpy": version("2.1.0")}, ("ENV042", "package.numpy")),
        # Something else is wrong, which has nothing to do with it.
        ({}, {"package.numpy": version("2.1.0"), "package.threadpoolctl": None},
         ("ENV042", "package.numpy")),
        ({}, {"package.pandas": None, "package.threadpoolctl": None},
         ("ENV051", "package.pandas")),
        ({}, {"package.threadpoolctl": None}, ("ENV059", "package.pytest")),
    ],
)  # fmt: skip
def test_no_cause(train: Patch, deploy: Patch, alone: tuple[str, str]) -> None:
    """What nothing accounts for names no cause."""
    found = judged(train, deploy)
    about = [item for item in found.findings if (item.rule, item.subject) == alone]

    assert [item.explained_by for item in about] == [""]


@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_cause_is_in_the_report(case: Case) -> None:
    """A cause is a finding of the same report, never the finding itself, and never a circle."""
    found = report(case.pair.train, case.pair.deploy)
    causes = {f"{item.rule} {item.subject}": item.explained_by for item in found.findings}

    for name, cause in causes.items():
        seen = {name}
        while cause:
            assert cause in causes
            assert cause not in seen
            seen.add(cause)
            cause = causes[cause]


def judged(train: Patch, deploy: Patch) -> Report:
    """Return the report on the base pair with two patches."""
    return report(patched(SKLEARN.train, train), patched(SKLEARN.deploy, deploy))
