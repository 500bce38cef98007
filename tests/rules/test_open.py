"""Which rules stay open when the version of one package cannot be read: those of its role."""

from __future__ import annotations

import pytest

from envcheck.rulebook.cases import patched
from tests.rules.reading import cases, report

BASE = next(case.pair for case in cases() if case.name == "the captured pair as it is")
ON_THE_PATH = {"ENV046", "ENV066"}
PICKLES = {"ENV030", "ENV031", "ENV032", "ENV033", "ENV034", "ENV035"}
ROLES = ON_THE_PATH | PICKLES | {
    "ENV036", "ENV037", "ENV038", "ENV039", "ENV040", "ENV041", "ENV042", "ENV043", "ENV044",
    "ENV050", "ENV051", "ENV067",
}  # fmt: skip
"""The rules that speak of packages by their role."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scikit-learn", PICKLES | ON_THE_PATH),
        ("numpy", {"ENV036", "ENV042"} | ON_THE_PATH),
        ("scipy", {"ENV042"} | ON_THE_PATH),
        ("numba", ON_THE_PATH),
        ("joblib", {"ENV043"} | ON_THE_PATH),
        ("protobuf", {"ENV043"} | ON_THE_PATH),
        ("keras", {"ENV039", "ENV040"} | ON_THE_PATH),
        ("torch", {"ENV037", "ENV038"} | ON_THE_PATH),
        ("openvino", {"ENV041"} | ON_THE_PATH),
        ("pandas", {"ENV044"} | ON_THE_PATH),
        ("torchvision", {"ENV044"} | ON_THE_PATH),
        ("pydantic", {"ENV067"}),
        ("certifi", set()),
        ("pytest", set()),
        ("pip", set()),
    ],
)
def test_open_rules(name: str, expected: set[str]) -> None:
    """The package is there, so none of the rules about missing ones is open."""
    key = f"package.{name}"
    known = {"state": "ok", "value": {"version": "1.0", "tag": "py3-none-any"}}
    unread = {"state": "unknown", "reason": "METADATA is not readable"}
    found = report(patched(BASE.train, {key: known}), patched(BASE.deploy, {key: unread}))
    about = {item.rule for item in found.undetermined if item.subject == key}

    assert about & ROLES == expected
