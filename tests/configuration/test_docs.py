"""The examples of docs/configuration.md are valid, and their tables are complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from envcheck.comparing.compare import builtin_rules
from envcheck.comparing.tables import table
from envcheck.configuration import OPTIONS
from envcheck.configuration.profiles import SHIPPED
from tests.configuration.files import load
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "configuration.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
INCLUDED = {name: text for name, text in EXAMPLES if name in ("policy.toml", "waivers.toml")}
EMPTY = {"baseline.json": '{"schema": "envcheck.baseline/1", "entries": []}'}
HOSTS = [(name, text) for name, text in EXAMPLES if name not in INCLUDED]


def test_every_example_is_found() -> None:
    """Each block says which file it is."""
    assert len(EXAMPLES) == PAGE.count("```toml")
    assert set(INCLUDED) == {"policy.toml", "waivers.toml"}


@pytest.mark.parametrize(("name", "text"), HOSTS, ids=[name for name, _ in HOSTS])
def test_files_load(name: str, text: str, tmp_path: Path) -> None:
    """Each configuration loads with the included files of the page beside it."""
    found = load(tmp_path, files={name: text, **INCLUDED, **EMPTY})

    assert found.file == str(tmp_path / name)


def test_the_policy_and_the_waivers_arrive(tmp_path: Path) -> None:
    """What the first example includes is what the page says of it."""
    name, text = HOSTS[0]
    policy = load(tmp_path, files={name: text, **INCLUDED, **EMPTY}).policy

    assert [one.text for one in policy.require] == ["onnxruntime>=1.18"]
    assert policy.drift["role:preprocess"] == "patch"
    assert [one.rule for one in policy.waivers] == ["ENV042"]
    assert policy.baseline is not None


def test_the_tables_are_complete() -> None:
    """Options with their variables, rules about the policy, profiles and roles are all there."""
    for name in OPTIONS:
        assert f"| `{name}` |" in PAGE
        assert f"`ENVCHECK_{name.upper().replace('-', '_')}`" in PAGE
    about_policy = [
        rule for rule in builtin_rules().ids if builtin_rules().rule(rule).place[:7] == "policy/"
    ]
    assert about_policy
    assert [rule for rule in about_policy if rule not in PAGE] == []
    assert [name for name in SHIPPED if f"| `{name}` |" not in PAGE] == []
    assert [role for role in table("roles")["roles"] if f"`{role}`" not in PAGE] == []
